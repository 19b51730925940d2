export { createMailer, type Mail, type Mailer, type MailerSettings, type MailOutcome } from './mailer.ts';
export { type Brand, type MailContent, type RenderedMail, renderMail } from './template.ts';

// References to other parts of the template.

/** A text in which the names in angle brackets are replaced, as in `<Bucket.Arn>/*`. */
export const sub = (text: string) => ({
  'Fn::Sub': text.replace(/<([\w:.]+)>/g, (_, name: string) => `\${${name}}`),
});

export const ref = (id: string) => ({ Ref: id });
export const attribute = (id: string, name: string) => ({ 'Fn::GetAtt': [id, name] });
export const arnOf = (id: string) => attribute(id, 'Arn');

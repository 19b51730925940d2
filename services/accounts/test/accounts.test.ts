import { testAccess } from './access-suite.ts';
import { testInvitations } from './invitations-suite.ts';
import { openEmbedded, openOverHttp } from './open-accounts.ts';
import { testOrganisations } from './organisations-suite.ts';
import { testRaces } from './races-suite.ts';
import { testRecovery } from './recovery-suite.ts';
import { testSessions } from './sessions-suite.ts';

// The same contract on both engines: nothing in accounts may lean on the table being in this process.
for (const [name, open] of [
  ['the embedded engine', openEmbedded],
  ['the AWS SDK', openOverHttp],
] as const) {
  testAccess(name, open);
  testSessions(name, open);
  testRaces(name, open);
  testRecovery(name, open);
  testOrganisations(name, open);
  testInvitations(name, open);
}

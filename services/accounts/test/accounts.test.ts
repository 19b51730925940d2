import { testAccess } from './access-suite.ts';
import { testInvitations } from './invitations-suite.ts';
import { openEmbedded, openOutside, openOverHttp, outside } from './open-accounts.ts';
import { testOrganisations } from './organisations-suite.ts';
import { testRaces } from './races-suite.ts';
import { testRecovery } from './recovery-suite.ts';
import { testSessions } from './sessions-suite.ts';

// The same contract on all engines: nothing in accounts may lean on the table being in this process.
const embedded = ['the embedded engine', openEmbedded] as const;
for (const [name, open] of [embedded, ['the AWS SDK', openOverHttp] as const]) testAccess(name, open);
for (const [name, open] of [embedded, [outside, openOutside] as const]) {
  testSessions(name, open);
  testRaces(name, open);
  testRecovery(name, open);
  testOrganisations(name, open);
  testInvitations(name, open);
}

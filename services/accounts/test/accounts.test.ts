import { testAccess } from './access-suite.ts';
import { testInvitations } from './invitations-suite.ts';
import { openElsewhere, openEmbedded, openOverHttp } from './open-accounts.ts';
import { testOrganisations } from './organisations-suite.ts';
import { testRaces } from './races-suite.ts';
import { testRecovery } from './recovery-suite.ts';
import { testSessions } from './sessions-suite.ts';

// The same contract on all engines: nothing in accounts may lean on the table being in this process. With the long runs,
// all of it over the AWS SDK.
const isLong = process.env.STAK_LONG_TESTS !== undefined;
for (const [name, open, openOften] of [
  ['the embedded engine', openEmbedded, openEmbedded],
  ['the AWS SDK', openOverHttp, isLong ? openOverHttp : openElsewhere],
] as const) {
  testAccess(name, open);
  testSessions(name, open);
  const often = open === openOften ? name : 'a store elsewhere';
  testRaces(often, openOften);
  testRecovery(often, openOften);
  testOrganisations(often, openOften);
  testInvitations(often, openOften);
}

import { Missing } from '../../components/feedback/nothing-here.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';

export const OperatorsOnly = () => (
  <Missing
    title="This page is for operators"
    text="It shows what is stored and done for all customers, so only people who operate this server can see it. The operator lists their account ids in STAK_TABLES_EXPLORER."
  >
    <TextLink to="/">Go to the overview</TextLink>
  </Missing>
);

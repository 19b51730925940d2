import { Missing } from '../../components/feedback/nothing-here.tsx';
import { TextLink } from '../../components/feedback/text-link.tsx';

export const OperatorsOnly = () => (
  <Missing
    title="Tables are for operators"
    text="They hold the items of all customers, so only people who operate this server can see them. The operator lists their account ids in STAK_TABLES_EXPLORER."
  >
    <TextLink to="/">Go to the overview</TextLink>
  </Missing>
);

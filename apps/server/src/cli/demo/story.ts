import type { Random } from '@stak/kit';
import { announcements, chores, customers, euros, type Order, products, questions } from './shop.ts';

export type PaymentType =
  | 'payment_intent.created'
  | 'payment_intent.payment_failed'
  | 'checkout.session.completed'
  | 'charge.refunded';

// One thing that happens in the shop.
export type Beat =
  | { kind: 'payment'; type: PaymentType; order: Order }
  | { kind: 'forgery'; order: Order } // a forged event says that it is paid
  | { kind: 'message'; to: readonly string[]; title: string; body: string; category: string }
  | { kind: 'announcement'; title: string; body: string; category: string }
  | { kind: 'reading'; user: string }
  | { kind: 'task'; task: string; title: string; category: string; priority: Priority; dueInDays: number }
  | { kind: 'progress'; task: string; status: 'in_progress' | 'completed' }
  | { kind: 'question'; user: string; content: string }
  | { kind: 'outage' } // the shipping department stops responding
  | { kind: 'repair' };
type Priority = 'low' | 'medium' | 'high' | 'urgent';

const ordersAtOnce = 9; // in progress at a time: enough for a full board, and still readable
const largeCents = 20_000;
const beatsBetweenOutages = 80;
const ordersInOutage = 4; // with three attempts each, they open the circuit breaker

// An endless story, the same for the same random numbers.
export function* tellStory(random: Random, firstOrder: number): Generator<Beat, never> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const under: Beat[][] = []; // the remaining beats of each order and chore
  let orders = 0;
  const newOrder = (): Order => {
    const product = pick(products);
    const pieces = 1 + Math.floor(random() * 3);
    const number = firstOrder + orders++;
    return {
      number,
      customer: pick(customers),
      product: product.name,
      pieces,
      cents: pieces * product.cents,
    };
  };

  for (let beat = 0; ; beat++) {
    if (beat % beatsBetweenOutages === 45) yield* tellOutage();
    if (beat % 40 === 20)
      yield { kind: 'announcement', ...announcements[((beat - 20) / 40) % announcements.length]! };
    if (beat % 8 === 5) yield { kind: 'question', ...questions[((beat - 5) / 8) % questions.length]! };
    if (beat % 7 === 6) yield { kind: 'reading', user: pick(customers).user_id };
    if (beat % 9 === 3) under.push(tellChore(((beat - 3) / 9) % chores.length, beat));
    if (beat % 30 === 25) yield { kind: 'forgery', order: newOrder() };
    if (under.length < ordersAtOnce || random() < 0.2) under.push(tellOrder(newOrder(), random()));
    const index = Math.floor(random() ** 2 * under.length); // older ones are more likely
    yield under[index]!.shift()!;
    if (under[index]!.length === 0) under.splice(index, 1);
  }

  function* tellOutage(): Generator<Beat, void> {
    yield { kind: 'outage' };
    for (let i = 0; i < ordersInOutage; i++) {
      const [paid, ...rest] = tellOrder(newOrder(), 1);
      yield paid!;
      under.push(rest);
    }
    yield { kind: 'repair' };
  }
}

function tellChore(index: number, beat: number): Beat[] {
  const task = `chore-${beat}`;
  const chore = { kind: 'task', task, ...chores[index]! } as const;
  if (index % 3 === 1) return [chore];
  const begun = { kind: 'progress', task, status: 'in_progress' } as const;
  return index % 3 === 0 ? [chore, begun] : [chore, begun, { ...begun, status: 'completed' }];
}

// From the payment to the parcel. Luck is between 0 and 1.
function tellOrder(order: Order, luck: number): Beat[] {
  const { number, customer, product, pieces, cents } = order;
  const task = `order-${number}`;
  const inform = (title: string, body: string): Beat => ({
    kind: 'message',
    to: [customer.user_id],
    title,
    body,
    category: 'orders',
  });
  const payment = (type: PaymentType): Beat => ({ kind: 'payment', type, order });
  const what = pieces === 1 ? product : `${pieces} × ${product}`;
  if (luck < 0.1)
    return [
      payment('payment_intent.payment_failed'),
      inform(`Order ${number} is not paid`, 'Your bank said no. Please try another card.'),
    ];
  const life: Beat[] = [
    payment('checkout.session.completed'),
    ...(cents >= largeCents
      ? [tellStaff(`Order ${number} is a large one`, `${what} for ${euros(cents)}.`, 'orders')]
      : []),
    inform(`Order ${number} is paid`, `${what} for ${euros(cents)}. Thank you, ${customer.display_name}!`),
    {
      kind: 'task',
      task,
      title: `Pack order ${number}: ${what}`,
      category: 'shipping',
      priority: cents >= largeCents ? 'high' : 'medium',
      dueInDays: number % 3,
    },
    { kind: 'progress', task, status: 'in_progress' },
    inform(`Order ${number} is being packed`, 'With paper, not with plastic.'),
    { kind: 'progress', task, status: 'completed' },
    inform(`Order ${number} is on its way`, `It should be at your door in ${2 + (number % 3)} days.`),
  ];
  if (luck < 0.25) return [...life, ...tellRefund(order)];
  return luck < 0.5 ? [payment('payment_intent.created'), ...life] : life;
}

const tellRefund = (order: Order): Beat[] => [
  { kind: 'payment', type: 'charge.refunded', order },
  tellStaff(
    `${order.customer.display_name} sends order ${order.number} back`,
    `${euros(order.cents)} are refunded.`,
    'returns',
  ),
  {
    kind: 'task',
    task: `return-${order.number}`,
    title: `Call ${order.customer.display_name} about order ${order.number}`,
    category: 'returns',
    priority: 'urgent',
    dueInDays: 1,
  },
];

function tellStaff(title: string, body: string, category: string): Beat {
  return { kind: 'message', to: ['ann', 'bob'], title, body, category };
}

// Exactly once.
export const orders = [
  [
    'C1',
    'An order is paid twice at the same moment',
    [
      'content/test/store/race.test.ts: of 20 pays of an order at the same moment exactly one takes effect, each time',
      'content/test/store/race.test.ts: without its guard the same transition happens more than once, and the invariants fail',
      'content/test/nightly/race.test.ts: of 50 pays of an order at the same moment exactly one takes effect, … times',
      'content/test/postgres/processes.test.ts: pays of an order at the same moment, over both: exactly one takes effect, 50 times',
    ],
  ],
  [
    'C2',
    'An order is paid and cancelled at the same moment',
    [
      'content/test/store/race.test.ts: of pays and cancels at the same moment one takes effect, and the stock is right after either',
    ],
    'At night 2,000 orders with 50 requests each.',
  ],
  [
    'C3',
    'A way around the states of an order',
    [
      'content/test/store/orders-model.test.ts: orders, stock and replays are as a model has them after any steps, restarts among them',
    ],
  ],
  [
    'C4',
    'A request is sent again because its answer was lost',
    [
      'content/test/contract/keys.test.ts: a pay whose answer was lost is answered again byte for byte, also when the order moved on since',
      'content/test/nightly/kill-pays.test.ts: … times kill -9 amid pays: with its key each is paid once, and its answer stays the same',
    ],
  ],
  [
    'C5',
    'One key for two different requests',
    [
      'content/test/contract/keys.test.ts: a key with another body, path or method is refused, does nothing, and keeps its first answer',
      'content/test/contract/versions.test.ts: a key that was used in one version is not replayed to another',
      'content/test/contract/keys.test.ts: REST and GraphQL know one key as two',
      'content/test/contract/graphql-keys.test.ts: a key of an operation is refused to another one, whatever its fields are called, which does nothing',
    ],
  ],
  [
    'C6',
    'One key at the same moment',
    [
      'content/test/contract/keys.test.ts: twenty requests with one key at the same moment have one effect and one answer',
      'content/test/postgres/processes.test.ts: one key at the same moment to both: one effect, and the same answer from each',
    ],
    'At night a thousand times.',
  ],
  [
    'C7',
    'The key of somebody else',
    [
      'content/test/contract/keys.test.ts: a key is its caller’s own: with another’s key one gets an effect of one’s own',
      'content/test/contract/gone-callers.test.ts: each service has idempotency keys of its own, apart from callers without a token',
    ],
  ],
  [
    'C8',
    'A key of a wrong form',
    [
      'content/test/contract/keys.test.ts: a key of another form than 1 to 255 visible ASCII characters is refused and keeps nothing',
    ],
  ],
  [
    'C9',
    'A refused request uses its key up',
    [
      'content/test/contract/keys.test.ts: a request that did nothing does not use its key up',
      'content/test/contract/rate-limit.test.ts: a refused write does nothing, is not read, and leaves its Idempotency-Key free',
    ],
  ],
  [
    'C10',
    'A key expires',
    [
      'content/test/contract/keys.test.ts: after a day a key counts no more and is dropped in small batches, and a paid order stays paid once',
      'content/test/contract/keys.test.ts: a service drops old responses at its start and then periodically, until it ends',
    ],
  ],
  [
    'C11',
    'A crash between an effect and its stored answer',
    [
      'content/test/nightly/kill-pays.test.ts: … times kill -9 amid pays: with its key each is paid once, and its answer stays the same',
    ],
    'Both are in one transaction.',
  ],
  [
    'C12',
    'A commit with a key and an unknown outcome',
    [
      'content/test/nightly/faults.test.ts: … rounds of … end the service within a second, and keys heal what was in doubt',
      'content/test/postgres/faults.test.ts: a service that lost the reply to a commit says so, and does nothing twice',
    ],
  ],
  [
    'C13',
    'Money is rounded or overflows',
    [
      'content/test/store/money.test.ts: amounts in … are exact sums of whole minor units',
      'content/test/store/money.test.ts: an order that comes to more than a whole number can be is refused, and takes nothing',
      'content/test/store/money.test.ts: quantities that are no whole number from 1 to 1000 order nothing',
      'src/model/money.test.ts: a decimal number of any length and exponent is exact to its last minor unit',
    ],
  ],
  [
    'C14',
    'Price or stock change while an order is placed',
    [
      'content/test/store/money.test.ts: fifty buyers of ten pieces get ten, at the price of that moment, and the others are refused',
    ],
    'At night a thousand times.',
  ],
  [
    'C15',
    'One change overwrites another',
    [
      'content/test/contract/rest-preconditions.test.ts: of twenty writers of … with one ETag exactly one wins',
      'test/generic/rest.test.ts: a change asks for the revision that its caller saw, and one of nothing changes nothing',
    ],
    'At night a thousand times for each path.',
  ],
  [
    'C16',
    'Many pays in one GraphQL operation',
    [
      'content/test/contract/graphql-mutations.test.ts: stop at the one that fails, and keep what is done',
      'content/test/contract/rate-limit.test.ts: an operation with n mutations counts n, and is refused before the first where that is above the limit',
    ],
  ],
]

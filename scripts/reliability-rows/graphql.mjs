// GraphQL.
export const graphql = [
  [
    'D1',
    'Deep nesting, through fragments too',
    [
      'content/test/contract/graphql-limits.test.ts: … … are served, … are …',
      'src/graphql/limits.test.ts: depth, aliases and root fields are counted as a plain count of the written-out operation has them',
    ],
  ],
  [
    'D2',
    'Long documents, many tokens or comments',
    [
      'content/test/contract/graphql-limits.test.ts: … … are served, … are …',
      'content/test/contract/graphql-limits.test.ts: each limit is a setting',
    ],
  ],
  [
    'D3',
    'One field under many aliases',
    ['content/test/contract/graphql-limits.test.ts: … … are served, … are …'],
    'Those in fragments are counted where they are spread.',
  ],
  [
    'D4',
    'Many directives, known or not',
    ['content/test/contract/graphql-limits.test.ts: … … are served, … are …'],
  ],
  [
    'D5',
    'A document that asks for more rows than anybody reads',
    [
      'content/test/contract/graphql-limits.test.ts: 10,000 of them are served and 10,001 refused, with the way out, and never cut short',
      'content/test/contract/graphql-limits.test.ts: objects are not read further than the limit allows',
    ],
    'Deliberate: objects are counted while they are read, not before, as lists without a limit are whole ([limits](graphql.md#limits)).',
  ],
  [
    'D6',
    'A request that runs for long',
    [
      'test/store/lanes.test.ts: a read that runs until its time is up is 503 TIMEOUT, and the next one is served',
      'test/store/connection.test.ts: a scan that takes too long is stopped and answered 503, and the next read is served',
      'test/store/writer.test.ts: an answer whose read runs until its time is up is TIMEOUT, its write is undone, and those beside it are kept',
      'content/test/postgres/faults.test.ts: a service with a locked database answers while it is locked, and writes nothing late',
      'content/test/nightly/time-limit.test.ts: … reads that each run until their time is up leave nothing behind: the next one is served',
    ],
  ],
  [
    'D7',
    'Many operations in one request',
    ['content/test/contract/graphql-http.test.ts: …, …'],
    'A list of operations is no request: 400.',
  ],
  [
    'D8',
    'Fragments in a circle, or a bomb of them',
    [
      'content/test/contract/graphql-limits.test.ts: fragments that double … times are refused',
      'content/test/contract/graphql-limits.test.ts: fragments in a circle are refused',
      'src/graphql/limits.test.ts: a bomb of fragments, which would never end if it were written out, is measured',
    ],
  ],
  [
    'D9',
    'Documents that are slow to validate',
    [
      'content/test/contract/graphql-limits.test.ts: fields of one name are too many where comparing them all is too much',
      'content/test/contract/graphql-limits.test.ts: …: refused',
      'content/test/nightly/hold.test.ts: no request of at most 1 MiB holds the event loop for more than … ms on …',
      'src/http/limit/limiter.test.ts: a second may be taken at once, and a millisecond more is refused until it is given back',
      'content/test/contract/graphql-limits.test.ts: documents that are new take of the time of their caller: known ones and other callers are served on',
      'content/test/nightly/beside.test.ts: beside a stream of documents that are slow to validate all others are served',
    ],
    'In part: while a caller uses up its second of processor, others wait for some of its documents, though not at the median. Who has many addresses has as many shares.',
  ],
  [
    'D10',
    'Nesting that exhausts the stack',
    [
      'content/test/contract/graphql-limits.test.ts: … … deep are refused',
      'content/test/contract/graphql-limits.test.ts: variables … deep are refused',
      'src/http/body.test.ts: 32 levels are read and 33 are not',
    ],
  ],
  [
    'D11',
    'Introspection and suggestions that tell the schema',
    [
      'content/test/contract/graphql-schema.test.ts: introspection is refused while it is off, at any place; __typename is served',
      'content/test/contract/graphql-schema.test.ts: being off hides every name: near misses are reported without a suggestion',
      'content/test/contract/graphql-schema.test.ts: deeper than graphql-js allows is refused even while it is on',
      'content/test/nightly/inputs.test.ts: while introspection is off, thousands of near misses have no suggestion',
    ],
  ],
  [
    'D12',
    'Errors that show the inside',
    [
      'test/http/store-calls.test.ts: whatever the store throws below any operation is 500 with the id of the request, and tells nothing more',
      'content/test/contract/graphql-errors.test.ts: errors of a store that is broken show no SQL, path, stack or table, in either API',
      'content/test/contract/graphql-errors.test.ts: errors of the server hide their reason, give the request id, and are observed',
      'content/test/contract/bad-input.test.ts: … with … is … …',
    ],
  ],
  [
    'D13',
    'A mutation by GET or QUERY',
    [
      'content/test/contract/graphql-get.test.ts: GET refuses a mutation with 405 and Allow, way …',
      'content/test/contract/query-method.test.ts: a mutation by QUERY is refused with 405, also under a key, and nothing is written',
    ],
  ],
  [
    'D14',
    'A form of a foreign page as a request',
    [
      'content/test/contract/graphql-http.test.ts: … is refused with 415 for …',
      'content/test/contract/graphql-get.test.ts: GET with the Content-Type … is …',
      'content/test/contract/graphql-http.test.ts: a body without a type is refused with 415',
    ],
  ],
  [
    'D15',
    'Odd character sets',
    ['content/test/contract/graphql-http.test.ts: … is refused with 415 for …'],
  ],
  [
    'D16',
    'Deviations from GraphQL over HTTP',
    ['content/test/contract/graphql-http.test.ts: graphql-http has 61 audits'],
    'All 61 pass.',
  ],
  [
    'D17',
    'A query for each row',
    [
      'content/test/generated/operations.test.ts: each asked the store once, in one moment, with one statement a level at the most',
      'content/test/generated/operations.test.ts: ten users, their posts, comments and authors are a statement a level, or one for them all',
    ],
  ],
  [
    'D18',
    'Distinct documents fill the memory',
    [
      'src/graphql/document.test.ts: a thousand small documents are kept, of large ones as many as fit into the memory for them',
      'src/graphql/document.test.ts: what is derived from operations is kept while it fits into the memory for it',
      'src/graphql/document.test.ts: bad documents never push a good one out',
      'src/graphql/document.test.ts: documents, their faults and what is derived from them are in the account of memory, and never above it',
      'content/test/nightly/documents.test.ts: … documents that are new each time take at most … MiB more in the mean than 200 usual requests',
    ],
  ],
  [
    'D19',
    'A detour through the graph to what is closed',
    [
      'content/test/contract/policy.test.ts: every path of the schema is walked: there are many, and some are seven levels long',
      'content/test/contract/policy.test.ts: every path of the schema to a user’s … is closed to anonymous and open to any token',
      'content/test/contract/policy.test.ts: in fragments, under aliases, merged and conditional, shows anonymous no closed field',
    ],
  ],
  [
    'D20',
    'Guesses by the hundred in one request',
    [
      'content/test/contract/rate-limit.test.ts: the sign-ups of one caller are limited, each one of an operation too, and those of an admin not',
      'content/test/contract/rate-limit.test.ts: an operation with n mutations counts n, and is refused before the first where that is above the limit',
      'content/test/contract/graphql-limits.test.ts: … … are served, … are …',
    ],
  ],
]

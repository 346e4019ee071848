// The ten points of OWASP for APIs (2023).
export const owasp = [
  [
    'F1',
    'Things of others (API1)',
    [
      'content/test/contract/policy.test.ts: the table has a row for every operation of REST, and no other',
      'content/test/contract/policy.test.ts: the table has a row for every root field of GraphQL, and no other',
      'content/test/contract/policy.test.ts: the two APIs give the same verdict on the same thing',
      'content/test/contract/policy.test.ts: … by … is …',
    ],
  ],
  [
    'F2',
    'Who one is (API2)',
    [
      'src/auth/authenticate.test.ts: … is refused',
      'src/auth/token.test.ts: a token with … is refused',
    ],
    'There are no passwords and no log-in to time; the rows of tokens have the rest.',
  ],
  [
    'F3',
    'Members that are not the caller’s to set or to see (API3)',
    [
      'content/test/contract/policy.test.ts: members that the caller may not set are refused by every input of GraphQL, and nothing changes',
      'content/test/contract/policy.test.ts: … is set by an admin, and by nobody else',
      'content/test/contract/rest-bodies.test.ts: a … takes none of … from a caller',
      'src/write/input.test.ts: whatever an input holds, it is either stored by the fields’ names or told by its own',
      'content/test/nightly/inputs.test.ts: 5,000 bodies with a member that is not the caller’s are refused, and change nothing',
    ],
  ],
  [
    'F4',
    'Consumption without bounds (API4)',
    [
      'content/test/contract/graphql-limits.test.ts: … … are served, … are …',
      'src/config.test.ts: every limit takes its least and its largest value',
      'test/cli/memory.test.ts: a budget can be taken to the last byte, and one byte more is refused and takes nothing',
      'src/http/body.test.ts: 1,000 members are read and 1,001 are not, at every depth',
    ],
    'The rows of GraphQL, HTTP and load have the limits one by one.',
  ],
  [
    'F5',
    'Functions of admins by another way (API5)',
    [
      'content/test/contract/policy.test.ts: no spelling of a path, method or header lets a user reach what is an admin’s',
      'content/test/contract/rest-http.test.ts: a method in a header or a parameter is no method',
    ],
  ],
  [
    'F6',
    'Flows that are overused (API6)',
    [
      'content/test/contract/rate-limit.test.ts: the sign-ups of one caller are limited, each one of an operation too, and those of an admin not',
      'content/test/contract/verify-email-mail.test.ts: an address gets five messages in an hour at most',
      'content/test/contract/verify-email-mail.test.ts: a user gets ten messages in an hour at most, whatever addresses they give',
    ],
    'Deliberate: comments and orders have the limit of all requests only ([rate limits](operations.md#rate-limits)).',
  ],
  [
    'F7',
    'Requests that the service is made to send (API7)',
    [
      'src/auth/authenticate.test.ts: keys that a token brings or names are not used and not fetched',
      'src/auth/key-server.test.ts: a server of key sets that is away answers …, which is not followed',
      'content/test/contract/rest-values.test.ts: an image is an absolute http or https URL of at most 2,048 characters without credentials, or null',
    ],
    'Only the key set and the mail server of the settings are ever called; no URL of a caller is.',
  ],
  [
    'F8',
    'Headers and settings (API8)',
    [
      'content/test/contract/rest-http.test.ts: an answer that is no page loads nothing and is in no frame',
      'content/test/contract/rest-origins.test.ts: every origin may read by default, without credentials, and sees the headers of the contract',
      'content/test/contract/rest-origins.test.ts: where origins are listed, just those may read, and Vary says Origin',
      'content/test/contract/rest-conditional.test.ts: GET … says who may keep it and what it depends on',
      'content/test/http/answers.test.ts: an answer of whatever route is in no frame, is what its type says, and names no program',
    ],
  ],
  [
    'F9',
    'Paths that nobody knows of (API9)',
    [
      'content/test/contract/rest-http.test.ts: … has …; any other method is 405 with Allow, before the token is looked at',
      'content/test/contract/policy.test.ts: the table has a row for every operation of REST, and no other',
      'content/test/openapi/traffic.test.ts: a document that lacks … does not hold for …',
    ],
    'The document, the routes and the schema are derived from one model.',
  ],
  [
    'F10',
    'What other services answer (API10)',
    [
      'src/auth/keys.test.ts: accept no forged token and break nothing, 1,000 times',
      'content/test/contract/graphql-errors.test.ts: errors of a store that is broken show no SQL, path, stack or table, in either API',
      'content/test/contract/verify-email-mail.test.ts: a mail server that fails and never speaks is given up',
    ],
  ],
]

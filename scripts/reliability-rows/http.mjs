// HTTP, input and text.
export const http = [
  [
    'G1',
    'A request that two parsers understand differently',
    [
      'test/cli/heads.test.ts: what two readers could take for different requests is 400, and nothing behind it is read',
      'test/cli/heads.test.ts: a request with two Host headers is refused with 400',
      'test/cli/heads.test.ts: under a lenient parser of HTTP no service starts',
      'test/cli/heads.test.ts: … of HTTP/2.0 is 505, of HTTP/1.0 not',
      'content/test/nightly/proxies.test.ts: … requests that are ambiguous hide none in them',
      'content/test/nightly/proxies.test.ts: … requests that are ambiguous hide none in them from HAProxy',
      'content/test/nightly/proxies.test.ts: … requests that are ambiguous hide none in them from nginx',
    ],
  ],
  [
    'G2',
    'Slow headers, slow bodies, slow readers',
    [
      'test/cli/memory.test.ts: a connection whose client takes nothing of an answer is ended, one that reads slowly is not',
      'src/serve/stalled.test.ts: a connection whose client takes nothing is ended after 30 to 35 s, whenever it stopped',
      'test/store/end.test.ts: idle and slow connections do not keep a service from its end beyond the limit',
      'content/test/nightly/slow.test.ts: … connections that are slow with … are all ended, and others are served meanwhile',
      'content/test/nightly/slow.test.ts: … connections whose clients take nothing of large answers are all ended, and others are served after the first are refused',
    ],
    'Of a thousand readers who take nothing, those have an answer for which the budget of unsent answers has room; the others are refused.',
  ],
  [
    'G3',
    'Floods of headers',
    [
      'test/cli/heads.test.ts: a request with 100 headers is answered',
      'test/cli/heads.test.ts: a request with 101 headers is refused with 431',
      'content/test/contract/rest-http.test.ts: a URL of 4,096 characters is read, a longer one is 414',
    ],
  ],
  [
    'G4',
    'Floods of connections',
    [
      'test/cli/memory.test.ts: connections above the most are closed at once, and those that are open are served',
      'test/nightly/connections.test.ts: … idle connections are kept and served, and … more are closed at once',
    ],
    'Deliberate: one address may hold all connections ([limits](operations.md#limits)).',
  ],
  [
    'G5',
    'Bodies that are too large, announced or not, compressed or not',
    [
      'content/test/contract/rest-rights.test.ts: a body of exactly the limit is read, one byte more is 413, announced or chunked',
      'content/test/contract/rest-rights.test.ts: a body that comes in chunks is cut off above the limit',
      'content/test/contract/graphql-http.test.ts: a compressed body is refused with 415',
      'test/cli/memory.test.ts: bodies above the budget are 503 while others are being received, which are answered',
    ],
  ],
  [
    'G6',
    'Line ends in what becomes a header',
    [
      'content/test/http/answers.test.ts: nothing in a path, a query or a header becomes a header of the answer, or breaks it',
      'content/test/contract/rest-http.test.ts: any other request id is replaced by one of ours',
      'content/test/contract/verify-email-mail.test.ts: a name with … stays a name',
    ],
  ],
  [
    'G7',
    'JSON with odd members, given twice, deep or not UTF-8',
    [
      'src/http/body.test.ts: a member that is given twice is named, at every depth and in every spelling',
      'src/http/body.test.ts: a member named __proto__ is a member and changes no prototype',
      'src/http/body.test.ts: bytes that are no UTF-8 are refused and not replaced',
      'content/test/contract/bad-input.test.ts: … with … is … …',
      'content/test/http/odd-bodies.test.ts: no body changes what objects inherit, whatever its members are called',
      'content/test/nightly/proto.test.ts: of 5,000 bodies none changes what objects inherit, whatever its members are called',
      'content/test/nightly/proto.test.ts: callers get the same from a service in which whoever uses __proto__ fails',
    ],
  ],
  [
    'G8',
    'Ids that are no ids, or too large',
    [
      'src/model/values.test.ts: … is the id of nothing',
      'content/test/contract/rest-reads.test.ts: every form that is no id is 404 at …',
      'test/store/connection.test.ts: an id out of range is refused by the store itself, and poisons nothing',
      'test/store/kept.test.ts: when the last id is given out the next creation is refused, and nothing is stored',
    ],
  ],
  [
    'G9',
    'Pages and offsets that are odd or far away',
    [
      'content/test/contract/rest-lists.test.ts: a … of … that is no whole number is 422 and named',
      'content/test/contract/rest-lists.test.ts: a page far behind the last links back to the last',
      'content/test/postgres/traps.test.ts: a page or an offset of … is empty',
    ],
    'Deliberate: no offset is refused; a far one is a slow read, with its time limit ([lists](rest.md#lists)).',
  ],
  [
    'G10',
    'Cursors that were changed or belong to others',
    [
      'src/rest/paging.test.ts: a cursor with any one letter changed, added or taken away is worth nothing',
      'src/rest/paging.test.ts: a cursor is worth nothing in another list or another store',
      'content/test/contract/rest-cursors.test.ts: … takes no cursor of another list',
    ],
  ],
  [
    'G11',
    'Text that a database cannot keep, or keeps otherwise',
    [
      'content/test/contract/rest-values.test.ts: any text comes back as it was sent, to the code unit',
      'content/test/contract/rest-values.test.ts: the … of a … has no NUL and no lone surrogate',
      'content/test/contract/rest-values.test.ts: the … of a … has 1 to … code points, emoji and accents counted alike',
      'src/http/body.test.ts: bytes that are no UTF-8 are refused and not replaced',
    ],
  ],
  [
    'G12',
    'Wildcards and operators in a search',
    [
      'content/test/contract/rest-filters.test.ts: % and _ are letters in a search, and so is what a full-text index has for operators',
      'content/test/contract/rest-filters.test.ts: hundreds of random searches equal the plain definition',
      'test/store/kept.test.ts: a search finds what its definition says after any writes, whatever is looked for',
      'content/test/nightly/searches.test.ts: … random searches find what the plain definition says',
      'content/test/nightly/searches.test.ts: of random searches among … rows each is answered',
    ],
    'In part: how long they take among a million rows is printed, not asserted.',
  ],
  [
    'G13',
    'SQL in a value',
    [
      'content/test/contract/rest-filters.test.ts: injections are searches and filters that find nothing',
      'src/sql/sql.test.ts: whatever a value holds, none of it gets into the text',
      'src/sql/sql.test.ts: a quote inside a name stays inside it',
      'content/test/nightly/inputs.test.ts: … texts of SQL as each parameter have the status of a harmless text, and change nothing',
      'content/test/nightly/inputs.test.ts: … texts of SQL in each text of a body are stored as they are, and change nothing else',
    ],
  ],
  [
    'G14',
    'Regular expressions that take for ever',
    [
      'test/nightly/regexes.test.ts: no regular expression that callers reach takes … ms for … characters',
      'test/nightly/regexes.test.ts: an expression that takes the square of the length is seen',
    ],
  ],
  [
    'G15',
    'Keys that are chosen to collide',
    [
      'src/http/body.test.ts: 1,000 members are read and 1,001 are not, at every depth',
      'src/http/body.test.ts: 50,000 members and elements in all are read and 50,001 are not',
      'content/test/nightly/hold.test.ts: no request of at most 1 MiB holds the event loop for more than … ms on …',
    ],
  ],
  [
    'G16',
    'Tricks with paths',
    [
      'content/test/contract/policy.test.ts: no spelling of a path, method or header lets a user reach what is an admin’s',
      'content/test/contract/rest-reads.test.ts: a path with a malformed escape, or one of NUL, is 400',
      'test/cli/heads.test.ts: … is not found, and not resolved',
      'content/test/nightly/paths.test.ts: … spellings of paths lead nobody to what is not theirs',
    ],
  ],
  [
    'G17',
    'Methods and protocols that are not served',
    [
      'test/cli/heads.test.ts: a method that is not served, an upgrade and an expectation change nothing and are not echoed',
      'test/cli/heads.test.ts: 100 Continue is said only to those who wait for it, and HEAD has no body',
      'content/test/contract/rest-http.test.ts: … has …; any other method is 405 with Allow, before the token is looked at',
      'content/test/contract/rest-conditional.test.ts: HEAD … is GET without its body, of the same length',
      'content/test/contract/graphql-http.test.ts: the endpoint refuses … with 405 and the methods there are',
    ],
  ],
  [
    'G18',
    'Pictures that are something else',
    [
      'content/test/contract/avatar.test.ts: … is …',
      'content/test/contract/rest-conditional.test.ts: a picture is an SVG that runs nothing, the same for ever for one id',
      'content/test/contract/rest-conditional.test.ts: an unchanged picture is 304 and keeps its policy',
    ],
  ],
  [
    'G19',
    'Addresses of pictures that run something',
    [
      'content/test/contract/rest-values.test.ts: an image is an absolute http or https URL of at most 2,048 characters without credentials, or null',
    ],
  ],
  [
    'G20',
    'Stored text that a browser runs',
    [
      'content/test/http/answers.test.ts: text that a browser could run is served as data that none runs, whatever it accepts',
      'content/test/contract/receipt.test.ts: the page escapes all that people wrote and lets nothing run or load',
      'content/test/pages/pages.test.ts: text from outside is escaped',
      'content/test/contract/rest-http.test.ts: an answer that is no page loads nothing and is in no frame',
    ],
  ],
  [
    'G21',
    'Requests that nobody thought of',
    [
      'test/fuzz/run.ts: … requests out of the documents and the schema of … get no answer that these do not allow',
      'test/fuzz/fuzz.test.ts: data is held against the schema and the selection, whatever stands under a directive',
      'content/test/generated/operations.test.ts: … generated operations are answered to the letter as by graphql-js',
      'test/generated/versions.ts: say the same to … generated requests, but for what is declared',
      'test/generated/compare.ts: the generated model … is served alike by the engines and the reference',
    ],
  ],
  [
    'G22',
    'The answer of one caller for another',
    [
      'content/test/http/answers.test.ts: requests of four callers at once get each their own answer, and one ETag stands for one text',
      'content/test/contract/rest-conditional.test.ts: GET … says who may keep it and what it depends on',
      'content/test/contract/policy.test.ts: every path of the schema is judged anew for each who asks, though the document is known',
      'src/http/limit/address.test.ts: X-Forwarded-For from a peer that is no trusted proxy is not looked at',
      'content/test/nightly/callers.test.ts: 10,000 requests of four callers at once get each their own answer',
    ],
  ],
]

// Load, end and health.
export const load = [
  [
    'H1',
    'Twice, five and ten times the load that can be served',
    [
      'src/http/queue.test.ts: once a read waited for too long the newest is run first, until none is left',
      'src/http/queue.test.ts: while requests wait to be run, an eighth of the time at most goes to refusals',
      'src/http/overload.test.ts: 2,000 connections that wait for nothing are all served, each within the time that all of them take',
      'src/http/overload.test.ts: where not all can be served in time, refusals leave four fifths of the time for answers, which come in time',
      'src/http/connections.test.ts: while enough requests wait, the next one of a connection that was answered is not read',
      'content/test/nightly/crowd.test.ts: at … times what it can serve a service goes on serving, and all its probes are answered',
    ],
    'In part: two fifths of the most is asserted there, beside other tests; the bench measures it alone (bench/README.md): at ten times the load 69 % of the most, each within 230 ms.',
  ],
  [
    'H2',
    'Requests that wait without a word',
    [
      'src/http/queue.test.ts: a read that waited for longer than it may is refused instead of being run',
      'src/http/queue.test.ts: reads above the size wait to be refused, oldest first; above twice the size each is refused at once, and its connection ends',
      'content/test/contract/deprecation.test.ts: answers of the rate limit and of a full queue have them too',
      'content/test/nightly/crowd.test.ts: of twice what it can serve 95 % of the excess is refused with Retry-After, and one in a hundred waits in vain at most',
      'content/test/nightly/crowd.test.ts: where nobody is refused, clients wait in vain at four times what it can serve',
      'src/http/connections.test.ts: a connection rests no longer than a request may wait, however many others do',
    ],
    'In part: how soon they are refused is printed, not asserted.',
  ],
  [
    'H3',
    'Recovery after an overload',
    [
      'src/http/queue.test.ts: once nobody waits to be run, refusals have the time of all',
      'src/http/overload.test.ts: stops of the process cost no more than their time',
      'src/http/queue.test.ts: a stop of the whole process makes nobody wait in vain: what came before is run',
      'src/http/queue.test.ts: what many requests leave behind is given back',
      'content/test/nightly/crowd.test.ts: seconds after ten times what it can serve, from clients that try again at once, it serves as before',
    ],
    'In part: that is at half of what it can serve, not at 70 %, 5 s later.',
  ],
  [
    'H4',
    'Reads that crowd out writes and probes',
    [
      'src/http/queue.test.ts: once a read has waited for longer than a slice, all writes go before reads',
      'src/http/queue.test.ts: where reads fill each slice, a write waits for one of them',
      'test/store/lanes.test.ts: quick reads are answered while a slow one runs, and the slow ones behind it when it ends',
      'test/cli/hang-ups.test.ts: probes are answered while nothing else is',
    ],
  ],
  [
    'H5',
    'One caller that takes everything',
    [
      'src/engines/shared/slow-lane.test.ts: a caller holds at most half the slots, and all of them together no more than there are',
      'src/engines/shared/slow-lane.test.ts: callers take turns: one who asks once does not wait behind all that another asked before',
      'content/test/contract/rate-limit.test.ts: each user has a limit of their own, with all tokens together, and anonymous another',
      'src/http/limit/counts.test.ts: where many callers have counts, new addresses are counted by provider and users by themselves',
      'content/test/nightly/beside.test.ts: beside a caller ten times above its rate all others are served, and it gets 429 for the rest',
    ],
    'In part: how long others wait beside it is printed, not asserted.',
  ],
  [
    'H6',
    'A burst of writes',
    [
      'src/http/queue.test.ts: a burst of writes is taken while nothing is known of their rate',
      'src/http/queue.test.ts: a write is refused when it comes where those before it take longer than it may wait, by the rate at which they are answered',
      'test/store/writer.test.ts: more writes than may wait are refused at once with OVERLOADED; those before and after are done',
      'test/store/group-commit.test.ts: writes of one moment share their commits, and so their waits for the disk',
    ],
    'At night 10,000 writes at once, to a queue for 2,000.',
  ],
  [
    'H7',
    'Clients that hang up',
    [
      'test/store/lanes.test.ts: a slow read whose client hangs up leaves the lane, and has a line with 499',
      'test/cli/hang-ups.test.ts: what a client asked that is gone when its turn comes is not done, and has a line with 499',
      'test/cli/hang-ups.test.ts: a client that hangs up within its body has a line with 499, and is no fault of the service',
      'test/cli/hang-ups.test.ts: a client that hangs up while its token is checked has a line with 499, and nothing waits for its body',
      'test/cli/hang-ups.test.ts: of a thousand clients that hang up together, what was begun is done once and the rest not at all',
    ],
  ],
  [
    'H8',
    'An end under load',
    [
      'test/store/end.test.ts: SIGTERM under load loses nothing that was acknowledged, and the log is carried over into the store',
      'content/test/store/restart.test.ts: SIGTERM cuts none of 16 busy keep-alive clients: they are told that an answer is the last',
      'test/store/end.test.ts: on SIGTERM a running request is finished, no new one is taken, and the end is exit 0',
      'test/store/end.test.ts: a second Ctrl-C a second later ends it at once, with exit 1',
      'content/test/postgres/processes.test.ts: SIGTERM to the first ends all with exit code 0, cuts none of 16 busy clients and loses nothing acknowledged',
      'content/test/nightly/term.test.ts: … times SIGTERM under load cuts nobody, loses no acknowledged write, and carries the log over',
    ],
  ],
  [
    'H9',
    'Slow clients hold up the end',
    [
      'test/store/end.test.ts: idle and slow connections do not keep a service from its end beyond the limit',
      'test/store/end.test.ts: idle connections alone do not keep a service from its end',
    ],
  ],
  [
    'H10',
    'Restarts in turn behind a proxy',
    [
      'content/test/postgres/restart.test.ts: services behind HAProxy are restarted in turn under load, and no request fails',
      'content/test/nightly/rolling.test.ts: … restarts in turn behind HAProxy at up to 300 requests a second fail no request',
      'content/test/store/serve.test.ts: restarts on a socket that outlives the service fail no request, lose no write and do none twice',
      'content/test/nightly/restart.test.ts: … restarts at 300 requests a second, on a socket that outlives the service, fail none',
      'content/test/nightly/rolling.test.ts: without a wait at the end callers do notice: it is needed, and this sees it',
    ],
  ],
  [
    'H11',
    'Life taken for readiness',
    [
      'content/test/postgres/faults.test.ts: a service without its database says so until it is back',
      'content/test/nightly/postgres-faults.test.ts: reports the database as unavailable until it is back, after five minutes',
      'test/cli/hang-ups.test.ts: probes are answered while nothing else is',
      'test/deploy.test.ts: all ask on one port, for their life at /healthz and for readiness at /readyz',
      'content/test/nightly/crowd.test.ts: at … times what it can serve a service goes on serving, and all its probes are answered',
    ],
    'In part: how fast probes are under load is measured by the bench (bench/README.md), not asserted.',
  ],
  [
    'H12',
    'The event loop is held',
    [
      'src/http/queue.test.ts: requests are run in the order in which they came, in slices of 5 ms',
      'test/store/lanes.test.ts: quick reads are answered while a slow one runs, and the slow ones behind it when it ends',
      'content/test/contract/body-limits.test.ts: a variable of 1,001 members is BAD_USER_INPUT before it is coerced, in both media types',
      'content/test/nightly/hold.test.ts: no request of at most 1 MiB holds the event loop for more than … ms on …',
      'src/http/encode-body.test.ts: others have their turns while a long text is made',
      'test/store/lanes.test.ts: a quick list whose texts turn out to be long is read in the slow lane, and the same list of short ones is not',
    ],
  ],
  [
    'H13',
    'An error that nobody expected',
    [
      'test/http/store-calls.test.ts: whatever the store throws below any operation is 500 with the id of the request, and tells nothing more',
      'content/test/contract/graphql-errors.test.ts: errors of the server hide their reason, give the request id, and are observed',
      'test/store/problems.test.ts: a snapshot that ends under its reads is their failure alone, and the next one is read',
      'test/store/problems.test.ts: a group whose transaction ends under it is written not at all, and the next one is written',
    ],
  ],
  [
    'H14',
    'A start with wrong settings',
    [
      'test/cli/start.test.ts: wrong settings are reported all at once, a line each, before anything is touched',
      'src/config.test.ts: …=… is refused by name, without its value',
      'src/config.test.ts: no value gets into a message: it may be a secret put into the wrong place',
    ],
  ],
  [
    'H15',
    'Addresses that a caller makes up',
    [
      'src/http/limit/address.test.ts: X-Forwarded-For from a peer that is no trusted proxy is not looked at',
      'src/http/limit/address.test.ts: addresses that a caller wrote itself do not count',
      'src/http/limit/address.test.ts: an IPv4 address that is mapped into IPv6 is the IPv4 one',
      'content/test/contract/rate-limit.test.ts: over a socket the address counts, and X-Forwarded-For from trusted proxies alone',
    ],
  ],
  [
    'H16',
    'Pipelining without end',
    [
      'src/http/connections.test.ts: of one connection 32 requests go on, whatever they ask; with them it is read no further until some are answered',
      'src/http/connections.test.ts: a connection that is paused stays so while bodies of its requests are read',
      'src/http/connections.test.ts: a request above those that may wait on all connections ends its own, and what waits there is forgotten',
      'test/cli/pipelining.test.ts: of one connection at most 32 requests go on, also those that no route takes, and those behind them are answered after them',
      'test/http/turns.test.ts: who is above the limit is refused without waiting for a turn',
    ],
  ],
  [
    'H17',
    'New connections beside busy ones',
    [
      'src/http/queue.test.ts: while connections come the queue gives way for a turn each time, and for eight in a row at most',
    ],
    'In part: how long they wait is measured by the bench (bench/README.md), not asserted.',
  ],
  [
    'H18',
    'An upgrade in a pipeline',
    [
      'src/http/connections.test.ts: an upgrade that nobody makes is answered, as the last of its connection: what is behind it may be lost, and is not done',
    ],
  ],
]

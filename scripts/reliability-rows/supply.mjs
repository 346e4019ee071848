// The tests and the packages.
export const supply = [
  [
    'I1',
    'Tests that notice nothing',
    [
      'content/test/store/race.test.ts: without its guard the same transition happens more than once, and the invariants fail',
      'content/test/openapi/traffic.test.ts: a document that lacks … does not hold for …',
      'content/test/nightly/field-example.test.ts: of all tests those that CONTRIBUTING names fail with an added field, and no other',
    ],
    'In part: [mutation testing](mutation.md) was done once, in four rooms, on samples in three of them.',
  ],
  [
    'I2',
    'Branches that no test takes',
    ['test/nightly/coverage.test.ts: the usual tests take nearly all branches of src and content'],
    'In part: 95 % of all branches are held; all those of tokens and orders were planned, whose files have 88 to 100 % each.',
  ],
  [
    'I3',
    'Tests that fail by chance',
    [
      'test/scripts.test.ts: a test file that stays alive after its time is ended and named',
      'test/scripts.test.ts: a test run in which no test ran fails',
    ],
    'In part: random tests print their seed; the suite is not run twenty times in a row by itself.',
  ],
  [
    'I4',
    'Packages with known faults',
    [
      'test/checkout.test.ts: what callers reach is not older than the mends of its known faults',
      'content/test/nightly/install.test.ts: no package of the service has a known fault that is high',
      'test/checkout.test.ts: the pinned Node is the one that package.json names',
    ],
    'In part: versions are exact, and `npm audit` is asked each night; where the registry answers none, as on the machine of the last run, that test is skipped and says so.',
  ],
  [
    'I5',
    'Install scripts, and a lock that drifts',
    [
      'test/scripts.test.ts: the lock file is complete',
      "test/scripts.test.ts: a lock file without another platform's package is refused",
      'content/test/nightly/install.test.ts: an install without scripts and without packages for development serves',
      'content/test/nightly/install.test.ts: a package that is not the one of the lock file is not installed',
    ],
    'Deliberate: a service has 54 packages, more than the 30 that were planned, and [0010](../decisions/0010-dependencies.md) says what for.',
  ],
  [
    'I6',
    'An install without a network',
    [
      'content/test/nightly/install.test.ts: what is installed starts and answers without a network',
      'content/test/nightly/install.test.ts: a packed archive, unpacked and installed out of the cache of npm, starts and answers without a network',
    ],
    '`npm ci` needs a registry or the cache of npm.',
  ],
]

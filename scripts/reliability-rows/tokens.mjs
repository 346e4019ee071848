// Tokens.
export const tokens = [
  [
    'E1',
    'A token that chooses its algorithm',
    [
      'src/auth/authenticate.test.ts: alg "…" is refused, signed or not',
      'src/auth/authenticate.test.ts: alg … is refused',
      'src/auth/keys.test.ts: HS256 with the public … key as … for its secret is refused',
      'src/auth/keys.test.ts: alg … and kid …, signed by the … key, is refused',
    ],
  ],
  [
    'E2',
    'A token that brings or names its key',
    [
      'src/auth/authenticate.test.ts: keys that a token brings or names are not used and not fetched',
      'src/auth/authenticate.test.ts: kid … is refused',
    ],
  ],
  [
    'E3',
    'Claims that are missing or odd',
    [
      'src/auth/token.test.ts: a token with … is refused',
      'src/auth/token.test.ts: a payload of … is refused',
    ],
  ],
  [
    'E4',
    'Clocks that differ',
    [
      'src/auth/token.test.ts: a token with … is refused',
      'src/auth/authenticate.test.ts: a token that was verified is refused at its first use after exp and the skew, for 1,000 tokens',
    ],
  ],
  [
    'E5',
    'A remembered token outlives its end',
    [
      'src/auth/authenticate.test.ts: a token that was verified is refused at its first use after exp and the skew, for 1,000 tokens',
      'src/auth/authenticate.test.ts: the memory of verified tokens holds at most 10,000 tokens of 25,000, the newest 5,000 among them',
      'src/auth/authenticate.test.ts: a token that was verified is still answered at once after 10,000 tokens that failed',
    ],
  ],
  [
    'E6',
    'A role that was taken back, a user that was suspended or deleted',
    [
      'content/test/contract/rest-rights.test.ts: a token that its own user was suspended after writes no more, and still reads',
      'content/test/contract/rest-rights.test.ts: a suspended admin writes nothing either',
      'content/test/contract/gone-callers.test.ts: with a token of a deleted user every write is 403, also an admin’s and in both APIs, and changes nothing',
      'content/test/contract/rest-rights.test.ts: the role is the one in the token, whatever the user of it is',
    ],
    'Deliberate: the role is that of the token, for at most 24 hours ([tokens](policy.md#tokens)).',
  ],
  [
    'E7',
    'Keys change while the service runs',
    [
      'src/auth/key-server.test.ts: a key set from a server is rotated three times: every key counts while it is in the set, and within 5 minutes not after',
      'src/auth/keys.test.ts: a key set in a file is read again 5 seconds later: a new key counts, a removed one does not',
    ],
  ],
  [
    'E8',
    'A flood of keys that nobody knows',
    [
      'src/auth/key-server.test.ts: a key set from a server is fetched at most 3 times in a minute of 10,000 unknown kids, and good tokens go on',
    ],
  ],
  [
    'E9',
    'The server of the keys is away, slow, huge or leads elsewhere',
    [
      'src/auth/key-server.test.ts: a server of key sets that is away for 59 minutes leaves the known keys working, remembered or not, and nobody waits',
      'src/auth/key-server.test.ts: a server of key sets that is away answers without end, which is cut off after 64 KiB',
      'src/auth/key-server.test.ts: a server of key sets that is away answers …, which is not followed',
      'src/auth/key-server.test.ts: a server of key sets that is away is given up where it drips its answer',
    ],
  ],
  [
    'E10',
    'Weak keys',
    [
      'test/cli/start.test.ts: production does not start without a key for tokens, nor with a weak one, and never shows it',
      'src/auth/keys.test.ts: RSA of 1,024 bits beside a good key is not accepted',
      'src/auth/token.test.ts: a weak secret mints nothing',
    ],
  ],
  [
    'E11',
    'Several spellings of one token',
    [
      'src/auth/authenticate.test.ts: the spelling of a token is one: other last characters for the same bytes are refused, for 1,000 tokens',
      'src/auth/authenticate.test.ts: matters in the header and the claims too, even where they are signed',
    ],
  ],
  [
    'E12',
    'A token of odd size or form',
    [
      'src/auth/authenticate.test.ts: a token of 8 KiB is accepted, and with one character more it is refused',
      'src/auth/authenticate.test.ts: a header whose bytes are random is refused, 2,000 times',
      'src/auth/authenticate.test.ts: the scheme … is accepted',
    ],
  ],
  [
    'E13',
    'Claims that are inherited',
    [
      'src/auth/token.test.ts: … is user 7 and no admin',
      'src/auth/token.test.ts: … names no user',
      'src/auth/authenticate.test.ts: an alg that the header only inherits is none',
    ],
  ],
  [
    'E14',
    'Secrets, tokens or addresses in the log',
    [
      'content/test/cli/log.test.ts: no line of the log has a token, an address, a body, a query, a cookie, a key or a secret',
    ],
  ],
  [
    'E15',
    'Checks of forged signatures take up the processor',
    [
      'content/test/contract/rate-limit.test.ts: above the limit of its address a token is refused before its signature is checked',
      'content/test/contract/rate-limit.test.ts: a bad token counts for the address, and is refused with it',
      'content/test/nightly/beside.test.ts: beside a stream of forged signatures all others are served, and none of them is',
    ],
    'In part: how long others wait beside it is printed, not asserted.',
  ],
  [
    'E16',
    'Signs in a path that forge or hide a line of the log, or a name that fills it',
    [
      'content/test/cli/log.test.ts: a path with signs that a terminal obeys is logged with all of them escaped, and can be read back',
      'content/test/cli/log.test.ts: a slow request is logged with 100 characters of the name of its operation at most',
    ],
  ],
  [
    'E17',
    'Subjects of an identity provider that are taken for ids, for another’s, or for somebody who was deleted',
    [
      'content/test/contract/identity.test.ts: that looks like an id speaks for nobody',
      'content/test/contract/identity.test.ts: with the address of another row takes nobody’s row over',
      'content/test/contract/identity.test.ts: of which two come at once, or ten, makes one row',
      'content/test/contract/identity.test.ts: stays deleted, whoever made the row and deleted it',
      'src/auth/providers.test.ts: of another tenant is refused, and so is one for another service',
      'src/auth/providers.test.ts: in user_metadata, which its user may edit, gives nothing',
    ],
  ],
]

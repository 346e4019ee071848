/** What a content owes its model: viewers, switches, routes and actions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineContent, modelOf } from '#content.ts'
import { type Entity, entity, many } from '#model/entity.ts'
import {
  choice,
  computed,
  email,
  flag,
  folded,
  int,
  reference,
  revision,
  subject,
  text,
  time,
} from '#model/field.ts'
import { defineModel, entityOf } from '#model/model.ts'
import { type DeclaredPeople, peopleOf } from '#model/people.ts'
import { anyone, nobody, self, signedIn, whileOpen } from '#model/policy.ts'
import type { Lifetime } from '#model/version.ts'
import { checkViewers, type Viewers } from '#model/viewers.ts'
import { openApiOf } from '#openapi/openapi.ts'
import type { ExtraRoute } from '#rest/rest.ts'
import type { Action } from '#write/steps/action.ts'
import { kitchen, larder } from '../support/kitchen/index.ts'
import { library } from '../support/library/index.ts'
import { versions } from '../support/library/versions.ts'
import { editor, roles } from '../support/roles.ts'
import { member } from './models.ts'
import { thing } from './thing.ts'

const viewers: Viewers = { entity: 'member', blocked: { field: 'status', value: 'blocked' }, roles }

const wrongViewers: readonly (readonly [string, Entity, Viewers, string])[] = [
  [
    'viewers that are no entity',
    thing,
    { ...viewers, entity: 'user' },
    'viewers are user, which is not an entity: name one of member, thing',
  ],
  [
    'viewers blocked by what is not there',
    thing,
    { ...viewers, blocked: { field: 'state', value: 'blocked' } },
    'viewers are blocked by state, which is not a field of member: name one of id, name, status, revision',
  ],
  [
    'viewers blocked by a value that there is not',
    thing,
    { ...viewers, blocked: { field: 'status', value: 'gone' } },
    'viewers are blocked if member.status is gone, which is not one of its values: make it a choice that has it',
  ],
  [
    'a rule by what is not the id of a viewer',
    { ...thing, policy: { ...thing.policy, update: self('id') } },
    viewers,
    'the update rule of thing names id, which is not the id of a member: name a reference to member',
  ],
  [
    'a default role that there is not',
    thing,
    { ...viewers, roles: { ...roles, default: 'guest' } },
    'the default role is guest, which is not a role: name one of user, editor, admin',
  ],
  [
    'a superuser of no role',
    thing,
    { ...viewers, roles: { ...roles, superuser: 'root' } },
    'the superuser role is root, which is not a role: name one of user, editor, admin',
  ],
  [
    'a role that is called as the callers without a token',
    thing,
    { ...viewers, roles: { ...roles, names: [...roles.names, 'anonymous'] } },
    'the role "anonymous" has a name that tokens cannot give: use letters, digits and -, and not anonymous',
  ],
  [
    'a role whose name would break a header',
    thing,
    { ...viewers, roles: { ...roles, names: [...roles.names, 'a"b'] } },
    'the role "a\\"b" has a name that tokens cannot give: use letters, digits and -, and not anonymous',
  ],
  [
    'a rule of a policy for a role that there is not',
    { ...thing, policy: { ...thing.policy, delete: editor } },
    { ...viewers, roles: { ...roles, names: ['user', 'admin'] } },
    'the delete rule of thing is for the role editor, which is not a role: name one of user, admin',
  ],
  [
    'a rule of a field for a role that there is not',
    { ...thing, fields: { ...thing.fields, at: time({ nullable: true, settableBy: editor }) } },
    { ...viewers, roles: { ...roles, names: ['user', 'admin'] } },
    'a rule of thing.at is for the role editor, which is not a role: name one of user, admin',
  ],
]
/** The kitchen's viewers with these options in place of its own. */
const cooks = (changed: object, fields: object = {}) => {
  const { cook, dish } = kitchen.entities as { readonly cook: Entity; readonly dish: Entity }
  const policy = 'policy' in changed ? (changed.policy as Entity['policy']) : cook.policy
  const { policy: _, ...viewers } = changed as Record<string, unknown>
  return () =>
    checkViewers({ cook: { ...cook, policy, fields: { ...cook.fields, ...fields } }, dish }, {
      ...kitchen.viewers,
      ...viewers,
    } as Viewers)
}
const twice = computed({ as: text({ max: 99 }), from: { concat: ['name', 'name'] } })
const none = { value: 0 } as const
/** Rows that may sign in, and sign-in of a content whose rows they are, with these fields and options in place of the usual ones. */
const signingIn = (
  said: boolean | DeclaredPeople,
  fields: object = {},
  {
    policy = { read: anyone, create: anyone },
    ...changed
  }: Partial<Viewers> & {
    policy?: Entity['policy']
  } = {},
) => {
  const all = {
    name: text({ max: 100 }),
    email: email({ settableBy: anyone }),
    emailKey: folded('email', { unique: 'CONFLICT' }),
    proved: flag({ initial: none, resetBy: 'email', settableBy: nobody }),
    role: choice(roles.names, { initial: { value: roles.default } }),
    revision: revision(),
    ...fields,
  }
  const there = Object.fromEntries(Object.entries(all).filter(([, field]) => field))
  const person = entity({ fields: there, policy } as never)
  return () => peopleOf({ person }, { entity: 'person', roles, ...changed }, said)
}
const wrongPeople: readonly (readonly [string, () => void, string])[] = [
  [
    'people that are no rows',
    () => peopleOf({ thing }, { roles }, true),
    'people are rows of the entity of viewers: name it there, as entity',
  ],
  [
    'people who sign in here, and tokens of another provider',
    signingIn(true, {}, { by: 'subject' }),
    'people sign in here, and viewers.by is for the tokens of another provider: leave one of them out',
  ],
  [
    'people without an address of which there is a folded copy',
    signingIn(true, { emailKey: folded('email', {}) }),
    "people sign in by person, which lacks an address with a folded copy that no two rows share: email: email(…) and emailKey: folded('email', { unique: … })",
  ],
  [
    'people with two addresses',
    signingIn(true, {
      mail: email({ settableBy: anyone }),
      mailKey: folded('mail', { unique: 'CONFLICT' }),
    }),
    'people sign in by person, and email and mail are both such fields: name one',
  ],
  [
    'people by an address that is none',
    signingIn({ email: 'name' }),
    "people sign in by person.name, which lacks an address with a folded copy that no two rows share: email: email(…) and emailKey: folded('email', { unique: … })",
  ],
  [
    'people without a name',
    signingIn({ name: 'nick' }),
    'people sign in by person.nick, which lacks a name: name: text({ max: 200, … })',
  ],
  [
    'people whose proof others may set',
    signingIn(true, { proved: flag({ initial: none, resetBy: 'email' }) }),
    "people sign in by person, which lacks a flag that only the service sets and a new address resets: emailVerified: flag({ …, settableBy: nobody, initial: { value: 0 }, resetBy: 'email' })",
  ],
  [
    'people without all roles',
    signingIn(true, { role: choice(['user'], { initial: { value: 'user' } }) }),
    "people sign in by person, which lacks a choice with the names of the roles: role: choice(['user', 'editor', 'admin'], …)",
  ],
  [
    'people without a revision',
    signingIn(true, { revision: undefined }),
    'people sign in by person, which lacks a revision: revision: revision()',
  ],
  [
    'people who sign up without what is needed',
    signingIn({ signUp: 'open' }, { age: int({ min: 0, max: 150 }) }),
    "people sign up by themselves, and a person needs age, which a sign-up cannot give: give it an initial value, or say signUp: 'closed'",
  ],
  [
    'people who sign up where nobody may',
    signingIn({ signUp: 'open' }, {}, { policy: { read: anyone, create: signedIn } }),
    "people sign up by themselves, and the create rule of person lets no anonymous caller through: let it be anyone or whileOpen('…'), or say signUp: 'closed'",
  ],
]
const wrongIdentities: readonly (readonly [string, () => void, string])[] = [
  [
    'viewers that are looked up by what is no subject',
    cooks({ by: 'name' }),
    'viewers are looked up by cook.name, which is not made by subject(): give cook a field name: subject()',
  ],
  [
    'a subject that nobody is looked up by',
    cooks({ by: undefined, signUp: undefined }),
    "cook.subject is a subject(), and viewers are not looked up by it: say by: 'subject' in viewers",
  ],
  [
    'a second subject',
    cooks({}, { other: subject() }),
    "cook.other is a subject(), and viewers are not looked up by it: say by: 'other' in viewers",
  ],
  [
    'a sign-up where ids are in tokens',
    cooks({ by: undefined }, { subject: text({ max: 9 }) }),
    'viewers have a signUp, and their rows are not looked up by a subject: add by, or leave signUp out',
  ],
  [
    'a sign-up that nobody has the right to',
    cooks({ policy: { read: signedIn, create: nobody } }),
    "viewers have a signUp, and the create rule of cook lets nobody make a row of its own: let it be signedIn, whileOpen('…') or withRole(…)",
  ],
  [
    'a sign-up that gives the subject',
    cooks({ signUp: { name: 'name', subject: 'oid' } }),
    'signUp of viewers gives subject, which is not a field of cook that can be given: name another one',
  ],
  [
    'a sign-up that gives what the store computes',
    cooks({ signUp: { name: 'name', twice: 'twice' } }, { twice }),
    'signUp of viewers gives twice, which is not a field of cook that can be given: name another one',
  ],
  [
    'a sign-up without a claim for what is needed',
    cooks({ signUp: {} }),
    'signUp of viewers makes a cook, which needs name: name the claim that gives it, or give name an initial value',
  ],
  [
    'a sign-up from no claim',
    cooks({ signUp: { name: [] } }),
    "signUp of viewers gives name from no claim: name one, like 'name' or ['profile', 'name']",
  ],
  [
    'a sign-up that gives what users may not set from what they may edit',
    cooks({ signUp: { name: 'name', state: ['user_metadata', 'state'] } }),
    'signUp of viewers gives state from user_metadata.state, which its bearer may edit, and not everybody may set state: name a claim that the identity provider alone writes',
  ],
  [
    'a role from what users may edit',
    cooks({ roleFrom: { claim: ['user_metadata', 'role'] } }),
    'roleFrom of viewers is read from user_metadata.role, which its bearer may edit: name a claim that the identity provider alone writes, such as one below app_metadata',
  ],
  [
    'a role from what users may edit, under a name of their own',
    cooks({ roleFrom: { claim: ['https://kitchen.example/user_metadata', 'a', 'role'] } }),
    'roleFrom of viewers is read from https://kitchen.example/user_metadata.a.role, which its bearer may edit: name a claim that the identity provider alone writes, such as one below app_metadata',
  ],
  [
    'a role from no claim',
    cooks({ roleFrom: { claim: [] } }),
    "roleFrom of viewers is read from no claim: name one, like 'role' or ['realm_access', 'roles']",
  ],
  [
    'a word for a role that there is not',
    cooks({ roleFrom: { claim: 'roles', map: { a: 'admin' } } }),
    'roleFrom of viewers names admin, which is not a role: name one of chef, taster, cook',
  ],
  [
    'a role otherwise that there is not',
    cooks({ roleFrom: { claim: 'roles', otherwise: 'guest' } }),
    'roleFrom of viewers names guest, which is not a role: name one of chef, taster, cook',
  ],
  [
    'an audience that no claim has',
    cooks({ audienceClaim: '' }),
    "audienceClaim of viewers is no claim: name one, like 'client_id'",
  ],
  [
    'a rule by owners where there are no users',
    () => checkViewers({ dish: { ...thing, policy: { update: self('ownerId') } } }, { roles }),
    'the update rule of dish names the viewer, and the content has no viewers: let its viewers name an entity, or take another rule',
  ],
  [
    'a value that is the viewer where there are no users',
    () =>
      checkViewers(
        {
          dish: {
            ...thing,
            policy: {},
            fields: { by: reference('dish', { onDelete: 'cascade', initial: 'viewer' }) },
          },
        },
        { roles },
      ),
    'dish.by is the viewer at first, and the content has no viewers: let its viewers name an entity, or give it another initial value',
  ],
  [
    'those who are blocked where there are no users',
    () => checkViewers({ thing }, { roles, blocked: { field: 'name', value: 'x' } }),
    'viewers have blocked, and no entity that it is about: name the entity',
  ],
  [
    'a subject where there are no users',
    () => checkViewers({ dish: { ...thing, fields: { sub: subject() } } }, { roles }),
    'dish.sub is a subject(), and viewers are not dish: leave it out',
  ],
]
for (const [what, check, sentence] of [...wrongIdentities, ...wrongPeople])
  test(`${what} is told in one sentence`, () => {
    assert.throws(check, { message: `the model is wrong: ${sentence}` })
  })

test('viewers may be left out, be blocked, and sign up with what the store computes', () => {
  const { entities } = larder
  assert.deepEqual(larder.viewers, {
    roles: { names: ['service', 'admin'], default: 'service', superuser: 'admin' },
  })
  checkViewers(entities, { roles })
  checkViewers({ member, thing }, { entity: 'member', roles })
  cooks({}, { twice })()
})

for (const [what, entity, viewers, sentence] of wrongViewers)
  test(`${what} are told in one sentence`, () => {
    assert.throws(() => checkViewers({ member, thing: entity }, viewers), {
      message: `the model is wrong: ${sentence}`,
    })
  })

/** A content of the thing with these routes. */
const served = (actions: readonly Action[], routes: readonly ExtraRoute[] = []) =>
  defineContent({
    entities: defineModel({ member, thing } as never),
    viewers,
    versions,
    actions,
    served: async () => ({ routes, pages: [] }),
    migrations: new URL('file:///'),
    examples: { graphql: '', rest: '', withToken: { graphql: '', rest: '' } },
  })
const act: Action = {
  method: 'POST',
  name: 'polish things',
  rule: signedIn,
  path: '/things/:id/polish',
  about: 'thing',
  answers: 'thing',
  described: { operationId: 'polishThing', summary: 'Polish a thing' },
  command: () => assert.fail('nobody asks'),
}
const extra: ExtraRoute = {
  method: 'GET',
  path: '/things/:id/label',
  described: { rule: signedIn, operationId: 'getLabel', summary: 'Get a label' },
  serve: () => () => assert.fail('nobody asks'),
}

test('the rule of an action may be a list, as those of an entity may', () => {
  const [{ rule } = act] = served([{ ...act, rule: [nobody, signedIn] }]).actions
  assert.deepEqual(rule, { kind: 'any of', rules: [nobody, signedIn] })
})

const wrongRoutes: readonly (readonly [string, Lifetime, string])[] = [
  [
    'ends without a sunset',
    { last: 1 },
    "ends with version 1 and has no sunset: say on which day it goes, like sunset: '2027-08-01'",
  ],
  [
    'begins with a version that there is not',
    { since: 7 as never },
    `names version 7, which is not one of ${versions.all.join(', ')}: name one of these`,
  ],
]
for (const [what, lifetime, rest] of wrongRoutes)
  test(`an action or another route that ${what} is told in one sentence`, async () => {
    const message = `The route POST /things/:id/polish ${rest}`
    assert.throws(() => served([{ ...act, ...lifetime }]), { message })
    const routes = [{ ...extra, ...lifetime }]
    await assert.rejects(served([], routes).served(), {
      message: `The route GET /things/:id/label ${rest}`,
    })
  })

test('an error that the content does not list is told with what to do', () => {
  const described = { ...act.described, errors: ['BROKEN_BELL'] }
  assert.throws(() => served([{ ...act, described }]), {
    message:
      'described.errors of POST /things/:id/polish has BROKEN_BELL, which the content does not list: add it to errors of defineContent',
  })
})

test('two routes at one path are told where one version has both, and only there', async () => {
  const message =
    'The route POST /things/:id/polish is there twice in version 2: leave one out of it'
  assert.throws(() => served([act, { ...act, since: 2 }]), { message })
  const former = { ...act, last: 1, sunset: '2027-08-01' } as const
  assert.equal(served([former, { ...act, since: 2 }]).actions.length, 2)
  const { method, path } = act
  await assert.rejects(served([act], [{ ...extra, method, path, since: 2 }]).served(), { message })
})

test('a route at the path of another one, however its ids are called, and of one of an entity, is told', async () => {
  const described = { ...act.described, operationId: 'polishAgain' }
  const again = { ...extra, method: 'POST', path: '/things/:thingId/polish' } as const
  await assert.rejects(
    served([act], [{ ...again, described: { ...extra.described, ...described } }]).served(),
    {
      message:
        'POST /things/:id/polish and POST /things/:thingId/polish are one route in version 1: leave one out of it',
    },
  )
  await assert.rejects(served([{ ...act, path: '/things', about: null }]).served(), {
    message: 'The route POST /things is there twice in version 1: leave one out of it',
  })
})

test('a PATCH by hand, which reads no key, is documented without one', async () => {
  const content = served([], [{ ...extra, method: 'PATCH' }])
  const { paths } = await openApiOf(content, 1)
  const { patch } = paths['/things/{id}/label'] ?? {}
  assert.ok(patch)
  assert.doesNotMatch(JSON.stringify(patch), /idempotency/i)
})

const wrongActions: readonly (readonly [string, Partial<Action>, string])[] = [
  [
    'answers with no entity',
    { answers: 'things' },
    'answers with things, which is no entity: there are ',
  ],
  ['is about no entity', { about: 'things' }, 'is about things, which is no entity: there are '],
  [
    'names another parameter',
    { path: '/things/:thingId/polish' },
    'is about thing, so its path has :id',
  ],
  ['names no row', { path: '/things/polish' }, 'is about thing, so its path has :id'],
  ['names a row and is about none', { about: null }, 'has :id in its path and is about nothing'],
  [
    'takes what GraphQL cannot name',
    { graphql: true, input: { 'due-date': text({ max: 9 }) } },
    'has the name "due-date", which GraphQL cannot take',
  ],
  [
    'is called what GraphQL cannot name',
    { graphql: true, described: { ...act.described, operationId: 'größer' } },
    'has the name "größer", which GraphQL cannot take',
  ],
  ['is at no path', { path: 'things/:id/polish' }, 'has a path that does not begin with /'],
]
for (const [what, changed, fault] of wrongActions)
  test(`an action that ${what} is told in one sentence`, () => {
    const told = (error: Error) => error.message.startsWith('The ') && error.message.includes(fault)
    assert.throws(() => served([{ ...act, ...changed }]), told)
  })

test('two routes with one operationId are told where one version has both, and only there', async () => {
  const other = { ...act, path: '/things/:id/wax' }
  const message =
    'POST /things/:id/polish and POST /things/:id/wax are both the operation polishThing: rename one of them'
  assert.throws(() => served([act, other]), { message })
  const former = { ...act, last: 1, sunset: '2027-08-01' } as const
  assert.equal(served([former, { ...other, since: 2 }]).actions.length, 2)
  const routes = [{ ...extra, described: { ...extra.described, operationId: 'polishThing' } }]
  await assert.rejects(served([act], routes).served(), /are both the operation polishThing/)
})

test('a rule while a switch is open that the content does not give is told in one sentence', () => {
  const policy = { ...thing.policy, create: whileOpen('shop') }
  const content = defineContent({
    entities: defineModel({ member, thing: { ...thing, policy } } as never),
    viewers,
    versions,
    migrations: new URL('file:///'),
    examples: { graphql: '', rest: '', withToken: { graphql: '', rest: '' } },
  })
  assert.throws(() => modelOf(content, content.decide({})), {
    message:
      "the model is wrong: the create rule of thing holds while shop is open, which is not a switch: let the content's switches give it",
  })
})

test('entities may stand before what they refer to', () => {
  const list = { ...member, relations: { things: many('thing', 'ownerId') } }
  assert.deepEqual(Object.keys(defineModel({ thing, member: list } as never)), ['thing', 'member'])
})

test('two operations or two schemas with one name in a document are told at the start, those that entities give too', async () => {
  const { entities } = library
  const author = entityOf(library, 'author')
  const book = entityOf(library, 'book')
  const withOther = (
    name: string,
    plural: string,
    rest: Partial<Entity['rest']>,
    lifetimes = book.rest.lifetimes,
  ) =>
    defineContent({
      ...{ viewers: library.viewers, actions: library.actions, served: library.served },
      ...{
        errors: library.errors,
        versions,
        migrations: library.migrations,
        examples: library.examples,
      },
      entities: {
        ...entities,
        book: { ...book, rest: { ...book.rest, lifetimes } },
        [name]: {
          ...author,
          ...{ table: name.toLowerCase(), plural, relations: {} },
          rest: { ...author.rest, ...rest },
        },
      } as never,
    }).served()
  const listed = { list: true, one: true, writes: [] }
  await assert.rejects(withOther('bookUpdate', 'bookUpdates', listed), {
    message:
      'the entity bookUpdate and what PATCH /books/:id takes have one schema in the documents of the REST API, BookUpdate: rename one of them',
  })
  await assert.rejects(withOther('authorBook', 'authorBooks', listed), {
    message:
      'GET /authors/:parentId/books and GET /authorBooks are both the operation listAuthorBooks: rename one of them',
  })
  // Documents do not have what is shown nowhere, or not in their version.
  await withOther('bookUpdate', 'bookUpdates', { list: false, one: false, writes: [] })
  const since2 = { since: 2 } as const
  const newer = { ...listed, lifetimes: { list: since2, one: since2 } }
  const former = { ...book.rest.lifetimes, update: { last: 1, sunset: '2099-01-01' } } as const
  await withOther('bookUpdate', 'bookUpdates', newer, former)
})

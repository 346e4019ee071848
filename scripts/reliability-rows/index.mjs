// The threats to the service, each with the tests that show what becomes of it: the source of docs/reliability.md.
//
// A row is its number, the threat, and the tests as `file: title`, where `…` stands for a generated part of
// a title. What is left to say follows; it begins with one of the words of `kinds` where the tests do not show all.
import { graphql } from './graphql.mjs'
import { http } from './http.mjs'
import { load } from './load.mjs'
import { orders } from './orders.mjs'
import { owasp } from './owasp.mjs'
import { postgres } from './postgres.mjs'
import { storage } from './storage.mjs'
import { supply } from './supply.mjs'
import { tokens } from './tokens.mjs'

/** What a remark begins with, and what a row with it is counted as. */
export const kinds = {
  'In part': 'shown in part',
  'Not shown': 'not shown',
  Deliberate: 'deliberately otherwise',
}

/** The rows by the part of docs/reliability.md that they stand in. */
export const threats = { storage, postgres, orders, graphql, tokens, owasp, http, load, supply }

/** What `Server-Timing` says of indexes in development: that which SQLite goes through. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usedIndexes } from '#serve/used-indexes.ts'
import { cooking, kitchenOn } from '../generated/cooking.ts'
import { until } from '../support/wait.ts'

test('the indexes of statements are known after the first time, each statement explained once', async () => {
  const { store, close } = await kitchenOn('sqlite', cooking)
  let sessions = 0
  const counting: typeof store = {
    ...store,
    session: purpose => {
      sessions++
      return store.session(purpose)
    },
  }
  const { plans } = store.dialect
  assert.ok(plans)
  const indexesOf = usedIndexes(counting, plans)
  const one = store.dialect.placeholder(1)
  const byRecipe = `select "t"."id" from "ingredients" as "t" where "t"."recipe_id" = ${one}`
  const byName = `select "t"."id" from "ingredients" as "t" where "t"."name" = ${one}`
  const others = ['insert into "ingredients" default values', 'select nonsense']
  assert.deepEqual(indexesOf([byRecipe, byName, ...others]), [])
  await until('both are known', () => indexesOf([byRecipe]).length * indexesOf([byName]).length > 0)
  assert.deepEqual(indexesOf([byRecipe]), ['ingredients_by_recipe_id'])
  assert.deepEqual(indexesOf([byName]), ['scan of ingredients'])
  assert.deepEqual(indexesOf([byName, byRecipe, byName, ...others]).toSorted(), [
    'ingredients_by_recipe_id',
    'scan of ingredients',
  ])
  await until('all were looked at', () => sessions === 3)
  await close()
})

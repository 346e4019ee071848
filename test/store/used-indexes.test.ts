/** What `Server-Timing` says of indexes in development: that which an engine goes through. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { usedIndexes } from '#serve/used-indexes.ts'
import type { QueryScript, Rows } from '#sql/engine.ts'
import { engines } from '../generated/compare.ts'
import { cooking, kitchenOn } from '../support/cooking.ts'
import { until } from '../support/wait.ts'

for (const on of engines)
  describe(`used indexes on ${on}`, () => {
    test('the indexes of statements are known after the first time, each statement explained once', async () => {
      const {
        store,
        core: { reader: engine },
        close,
      } = await kitchenOn(on, cooking)
      const explained: string[] = []
      const watching: typeof engine = {
        ...engine,
        query: (query, options) => {
          if (query.text.startsWith('explain')) explained.push(query.text)
          return engine.query(query, options)
        },
      }
      const { reader, indexesOf } = usedIndexes(watching, store.dialect.plans)
      const one = store.dialect.placeholder(1)
      const byRecipe = `select "t"."id" from "ingredients" as "t" where "t"."recipe_id" = ${one}`
      const byName = `select "t"."id" from "ingredients" as "t" where "t"."name" = ${one}`
      const others = ['insert into "ingredients" default values', 'select nonsense']
      await reader.query({ text: byRecipe, values: [1], isQuick: true })
      await reader.slowly(function* (): QueryScript<Rows> {
        return yield { text: byName, values: ['salt'] }
      })
      assert.deepEqual(indexesOf([byRecipe, byName, ...others]), [])
      await until(
        'both are known',
        () => indexesOf([byRecipe]).length * indexesOf([byName]).length > 0,
      )
      assert.deepEqual(indexesOf([byRecipe]), ['ingredients_by_recipe_id'])
      assert.deepEqual(indexesOf([byName]), ['scan of ingredients'])
      const both = ['ingredients_by_recipe_id', 'scan of ingredients']
      assert.deepEqual(indexesOf([byName, byRecipe, byName, ...others]).toSorted(), both)
      await until('all were looked at', () => explained.length === 3)
      await close()
    })

    test('a statement that cannot be explained holds nothing up', async () => {
      const {
        store,
        core: { reader: engine },
        close,
      } = await kitchenOn(on, cooking)
      const { reader, indexesOf } = usedIndexes(
        {
          ...engine,
          query: (query, options) => {
            if (query.text.startsWith('explain')) throw new Error('explains nothing')
            return engine.query(query, options)
          },
        },
        store.dialect.plans,
      )
      const rows = await reader.query({ text: 'select 1 as one', values: [], isQuick: true })
      assert.deepEqual(rows, [[1]])
      assert.deepEqual(indexesOf(['select 1 as one']), [])
      await close()
    })
  })

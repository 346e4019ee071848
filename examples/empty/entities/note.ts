/** Notes: the smallest useful entity. What it leaves out is derived; `npx duet explain note` prints it. */
import { anyone, created, entity, text } from 'duet/model'

export const note = entity({
  fields: {
    text: text({ max: 1000, description: 'Text, 1 to 1,000 characters.' }),
    createdAt: created(),
  },
  policy: { read: anyone, create: anyone },
})

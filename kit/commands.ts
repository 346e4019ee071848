/** The commands of the kit: what authors of a content use on their desk. The command line finds this file; nothing that serves does. */
import type { KitCommand } from '#cli/kit.ts'

/** By their names; each is loaded when it is called. */
export const commands: Readonly<Record<string, KitCommand>> = {
  init: {
    about: 'make a project from an example',
    load: () => import('#kit/init.ts'),
    needsNoContent: true,
  },
  dev: {
    about: 'serve while files change',
    load: () => import('#kit/dev/command.ts'),
    needsNoContent: true,
  },
  'dev-service': {
    about: 'serve one state of the files for duet dev',
    load: () => import('#kit/dev/service.ts'),
    isHidden: true,
  },
  explain: { about: 'say what follows from an entity', load: () => import('#kit/explain.ts') },
  check: {
    about: 'try the content out, as npm test does',
    load: () => import('#kit/check/command.ts'),
  },
  contract: { about: 'compare two contracts', load: () => import('#kit/contract/command.ts') },
  draft: {
    about: 'write the next migration, for duet migrate --draft',
    load: () => import('#kit/draft/draft.ts'),
    isHidden: true,
  },
}

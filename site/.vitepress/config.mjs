// The pages of docs/ as a static site with a search of its own; it asks nobody else for anything.
import { defineConfig } from 'vitepress'

/** Where a page leads that is in the checkout and not on the site; none until somebody names the repository. */
const repository = process.env.SITE_REPOSITORY

const page = (text, link) => ({ text, link: `/${link}` })

export default defineConfig({
  title: 'Duet',
  description: 'A content service with two APIs, GraphQL and REST, over the same stored rows',
  srcDir: 'pages',
  srcExclude: ['package.md'],
  outDir: './dist',
  cacheDir: './.cache',
  rewrites: { 'tutorial.md': 'index.md' },
  // Links out of docs/ lead to files of the checkout.
  ignoreDeadLinks: true,
  markdown: {
    config: md => {
      const render =
        md.renderer.rules.link_open ?? ((...all) => all[4].renderToken(...all.slice(0, 3)))
      md.renderer.rules.link_open = (tokens, index, options, env, self) => {
        const href = tokens[index].attrGet('href') ?? ''
        if (href.startsWith('../'))
          tokens[index].attrSet('href', repository ? `${repository}/${href.slice(3)}` : '#')
        return render(tokens, index, options, env, self)
      }
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: [
      {
        text: 'Begin',
        items: [page('Tutorial', ''), page('Tour', 'tour'), page('Beside others', 'comparison')],
      },
      {
        text: 'Write a content',
        items: [
          page('Model', 'model'),
          page('Actions and hooks', 'actions'),
          page('Who may do what', 'policy'),
          page('Sign-in', 'auth'),
          page('Files', 'files'),
          page('Mail', 'mail'),
          page('Routes by hand', 'routes'),
          page('Admin', 'admin'),
          page('Changing an API', 'changing-an-api'),
          page('Migrations', 'migrations'),
          page('Testing', 'testing'),
          page('Upgrading', 'upgrading'),
        ],
      },
      {
        text: 'Call it',
        items: [
          page('REST', 'rest'),
          page('GraphQL', 'graphql'),
          page('Conditions, orders, pages', 'queries'),
          page('Clients', 'clients'),
          page('Errors', 'errors'),
        ],
      },
      {
        text: 'Run it',
        items: [
          page('Operations', 'operations'),
          page('Settings', 'settings'),
          page('Commands', 'cli'),
          page('Several machines', 'scaling'),
          page('What it withstands', 'reliability'),
        ],
      },
    ],
  },
})

// Starts GraphiQL in its place on the page; it is a file, since the page's policy allows no inline script.

const place = document.getElementById('graphiql')
const { React, ReactDOM, GraphiQL } = window
const { endpoint, introspection } = place.dataset
const tabs = JSON.parse(place.dataset.tabs)

const home = React.createElement('a', { className: 'duet-home', href: '/' }, 'Duet')

ReactDOM.createRoot(place).render(
  React.createElement(
    GraphiQL,
    {
      // The service answers in one piece, so GraphiQL need not offer to read a stream of parts.
      fetcher: GraphiQL.createFetcher({
        url: endpoint,
        headers: { Accept: 'application/json' },
        enableIncrementalDelivery: false,
      }),
      // Null keeps GraphiQL from asking for a schema that would be refused.
      schema: introspection === 'on' ? undefined : null,
      defaultTabs: tabs,
      defaultEditorToolsVisibility: 'headers',
    },
    React.createElement(GraphiQL.Logo, null, home),
  ),
)

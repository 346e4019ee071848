// Starts GraphiQL in its place on the page; it is a file, since the page's policy allows no inline script.

const place = document.getElementById('graphiql')
const { React, ReactDOM, GraphiQL } = window
const { endpoint, introspection } = place.dataset
const tabs = JSON.parse(place.dataset.tabs)

// The token stays in this field alone: it is gone when the page is left. One under "Headers" goes before it.
const token = document.getElementById('token')
const fetchPlainly = GraphiQL.createFetcher({
  url: endpoint,
  headers: { Accept: 'application/json' },
  // The service answers in one piece, so GraphiQL need not offer to read a stream of parts.
  enableIncrementalDelivery: false,
})
const fetchWithToken = async (operation, options) => {
  // Without a token in the field the one of the session that is there goes along.
  const typed = token.value.trim().replace(/^Bearer /i, '')
  const value = typed === '' ? ((await window.duetToken?.()) ?? '') : typed
  const sent = value === '' ? {} : { Authorization: `Bearer ${value}` }
  return fetchPlainly(operation, { ...options, headers: { ...sent, ...options?.headers } })
}

// Where the window is narrow, operations have the room of variables and headers until these are opened.
const isNarrow = matchMedia('(max-width: 45rem)').matches

ReactDOM.createRoot(place).render(
  React.createElement(GraphiQL, {
    fetcher: fetchWithToken,
    // Null keeps GraphiQL from asking for a schema that would be refused.
    schema: introspection === 'on' ? undefined : null,
    defaultTabs: tabs,
    defaultEditorToolsVisibility: isNarrow ? false : 'headers',
  }),
)

// Starts Swagger UI in its place on the page; it is a file, since the page's policy allows no inline script.

const select = document.getElementById('version')
const link = document.getElementById('document')
const options = [...select.options]

const dark = matchMedia('(prefers-color-scheme: dark)')
const followColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followColours)
followColours()

/** The address of the chosen version's document; the link to it follows. */
const chosenDocument = () => {
  link.href = select.selectedOptions[0].dataset.document
  return link.href
}

const asked = new URLSearchParams(location.search).get('version')
if (options.some(({ value }) => value === asked)) select.value = asked

/** Shows what fails folded, since every operation repeats it: a click on its status and meaning opens it. */
const foldFailures = () => ({
  wrapComponents: {
    response:
      (Response, { React }) =>
      props => {
        const [isOpen, setOpen] = React.useState(false)
        const { code, response } = props
        const whole = React.createElement(Response, props)
        if (/^[23]/.test(code)) return whole
        const toggle = React.createElement(
          'button',
          { type: 'button', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
          // It is Markdown: a line for each code.
          response.get('description').replaceAll(/^\* |`/gm, ''),
        )
        const cells = [
          React.createElement('td', { key: 'code', className: 'response-col_status' }, code),
          React.createElement('td', { key: 'text', colSpan: 2 }, toggle),
        ]
        const row = React.createElement('tr', { className: 'response folded' }, cells)
        return React.createElement(React.Fragment, null, row, isOpen ? whole : null)
      },
  },
})

/** Finds the requests that have all words in their method, path, name, summary or description. */
const searchRequests = () => ({
  fn: {
    opsFilter: (tags, text) => {
      const words = text.toLowerCase().split(/\s+/)
      const isFound = entry => {
        const { summary, description, operationId } = entry.get('operation').toObject()
        const told = [entry.get('method'), entry.get('path'), summary, description, operationId]
        const all = told.join(' ').toLowerCase()
        return words.every(word => all.includes(word))
      }
      return tags
        .map(tag => tag.update('operations', entries => entries.filter(isFound)))
        .filter(tag => tag.get('operations').size > 0)
    },
  },
})

// A token is kept by Swagger UI in memory alone: it is gone when the page is left.
const ui = window.SwaggerUIBundle({
  dom_id: '#reference',
  url: chosenDocument(),
  // No service checks the document for us.
  validatorUrl: null,
  // Without a token under “Authorize” the one of the session that is there goes along.
  requestInterceptor: async request => {
    const { origin, pathname } = new URL(request.url, location.href)
    // Sign-in itself takes the session, which goes along as a cookie.
    const isOurs = origin === location.origin && !pathname.startsWith('/auth/')
    if (!isOurs || request.loadSpec || request.headers.Authorization) return request
    const token = await window.duetToken?.()
    if (token) request.headers.Authorization = `Bearer ${token}`
    return request
  },
  deepLinking: true,
  displayRequestDuration: true,
  // The bounds of numbers and texts.
  showCommonExtensions: true,
  defaultModelsExpandDepth: 0,
  plugins: [foldFailures, searchRequests],
  // Its own field, which finds tags alone, is not shown.
  filter: true,
  syntaxHighlight: { theme: 'tomorrow-night' },
})

// The page is not left, so that the token stays.
select.addEventListener('change', () => {
  const url = chosenDocument()
  history.replaceState(null, '', `?version=${select.value}`)
  ui.specActions.updateUrl(url)
  ui.specActions.download(url)
})

const search = document.getElementById('search')
search.addEventListener('input', () => ui.layoutActions.updateFilter(search.value.trim() || true))

// What the pages of text do in a browser: a button that copies each example, and a filter of rows. It is a file, since the pages'
// policy allows no inline script; without it all is there to be read.

// Browsers give a clipboard to https and to this machine alone; elsewhere a click selects the example.
for (const code of navigator.clipboard ? document.querySelectorAll('pre > code') : []) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  code.before(button)
}

const filter = document.getElementById('filter')
if (filter) {
  const rows = [...document.querySelectorAll('tbody tr:has([id])')]
  const found = document.getElementById('found')
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/)
    for (const row of rows) {
      const text = row.textContent.toLowerCase()
      row.hidden = !words.every(word => text.includes(word))
    }
    const shown = rows.filter(row => !row.hidden).length
    found.textContent = `${shown} of ${rows.length}`
  }
  filter.addEventListener('input', show)
  // A browser may bring back what was typed before; a row that the address names is shown in any case.
  show()
  addEventListener('hashchange', () => {
    filter.value = ''
    show()
  })
  filter.form.hidden = false
}

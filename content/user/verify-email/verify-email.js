// Fills the form from the link, and sends what it holds to the service.
const form = document.getElementById('verify')
const answer = document.getElementById('answer')
const given = new URLSearchParams(location.hash.slice(1))
for (const name of ['user', 'token']) form.elements[name].value = given.get(name) ?? ''

form.addEventListener('submit', async event => {
  event.preventDefault()
  const { user, token, access } = Object.fromEntries(new FormData(form))
  const url = `${form.dataset.rest}/users/${encodeURIComponent(user)}/verify-email`
  answer.textContent = 'One moment …'
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${access}` },
      body: JSON.stringify({ token }),
    })
    const { detail } = await response.json()
    answer.textContent = response.ok ? 'Thank you: the address is confirmed.' : detail
  } catch {
    answer.textContent = 'The service did not answer; try again in a moment.'
  }
})

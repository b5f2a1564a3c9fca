// The frame asks for a token when it needs one; the app's own back end knows who is signed in.
const cards = document.querySelector('sayso-cards')

async function getToken() {
  const answer = await fetch('/sayso-token', { method: 'POST' })
  if (!answer.ok) throw new Error(`no token: ${answer.status}`)
  return answer.text()
}

if (cards) {
  cards.getToken = getToken
  cards.addEventListener('sayso', ({ detail }) => {
    if (detail.type === 'count') document.title = detail.open ? `(${detail.open}) Portal` : 'Portal'
    if (detail.type === 'resolved') document.querySelector('#told').textContent = `Thank you: ${detail.outcome}.`
  })
}

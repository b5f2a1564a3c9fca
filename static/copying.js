// The copy buttons: of a value, which is the original bytes from the server, and of what was typed in vain or is to be typed.
'use strict'
;(() => {
  async function copy(button, text) {
    const word = button.querySelector('[data-copy-word]')
    const blob = Promise.resolve(text).then((all) => new Blob([all], { type: 'text/plain' }))
    try {
      await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]) // Safari wants it before anything is awaited
      word.textContent = 'Copied'
      document.dispatchEvent(new CustomEvent('sayso:announce', { detail: 'Copied' }))
    } catch {
      word.textContent = 'Not copied'
    }
    setTimeout(() => (word.textContent = 'Copy'), 2000)
  }

  const original = (url) => fetch(url, { cache: 'no-store' }).then((response) => (response.ok ? response.text() : Promise.reject(response)))

  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('[data-copy]')
    const button = event.target.closest?.('[data-copy-typed]')
    if (button) copy(button, button.parentElement.querySelector('.typed-text').textContent)
    if (!link || !navigator.clipboard || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    copy(link, original(link.href))
  })
})()

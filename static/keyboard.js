// Keyboard shortcuts for the cards: j and k move, a and d answer, ? lists them. The list has the switch that turns them off.
//
// a and d act only on the card that has focus, only when all of it is in view, never on a held or hurried second press, since what
// follows an answer is another card, and never from among what goes with Allow, which they would leave behind.
'use strict'
;(() => {
  const $ = (selector, within = document) => within.querySelector(selector)
  const cardOf = (element) => element?.closest?.('article.card')
  const dialog = $('#shortcuts')
  const enabled = $('#shortcuts-on')
  const textField = 'input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]'
  let restUntil = 0

  // A card higher than the window counts as in view when its buttons are.
  function inView(card) {
    const box = card.getBoundingClientRect()
    const rail = $('.rail').getBoundingClientRect()
    const top = $('.top').getBoundingClientRect().bottom
    const bottom = rail.top > 0 ? rail.top : innerHeight
    return box.bottom <= bottom + 1 && (box.top >= top - 1 || box.height > bottom - top)
  }

  function move(by) {
    const all = [...document.querySelectorAll('main article.card')]
    const here = all.indexOf(cardOf(document.activeElement))
    const next = all[here < 0 ? (by > 0 ? 0 : all.length - 1) : here + by]
    if (!next) return
    $('.card-title, summary', next).focus({ preventScroll: true })
    next.scrollIntoView({ block: 'nearest' })
  }

  function press(selector) {
    const card = cardOf(document.activeElement)
    const button = card && $(selector, card)
    if (!button || performance.now() < restUntil || document.activeElement.closest('.more, .review')) return
    if (inView(card)) button.click()
    else card.scrollIntoView({ block: 'end' })
  }

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    a: () => press('[data-allow]'),
    d: () => press('[data-deny]'),
    '?': () => dialog.showModal(),
  }

  document.addEventListener('keydown', (event) => {
    const action = Object.hasOwn(keys, event.key) && keys[event.key]
    const modified = event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing
    if (!action || modified || !enabled.checked || dialog.open || event.target.matches(textField)) return
    event.preventDefault()
    action()
  })

  document.addEventListener('sayso:moved-focus', () => (restUntil = performance.now() + 500))
  $('[data-shortcuts]')?.addEventListener('click', (event) => {
    event.target.closest('details').open = false
    dialog.showModal()
  })
  enabled.checked = localStorage.getItem('sayso:keys') !== 'off'
  enabled.addEventListener('change', () => localStorage.setItem('sayso:keys', enabled.checked ? 'on' : 'off'))
})()

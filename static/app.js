// What the dashboard does beyond plain pages and forms. Without this file everything still works by reloading.
//
//   Times, Badge     relative times go on; the count in title, rail and favicon
//   Cards            what a frame does to the page: the one place that adds or replaces cards
//   Timeline         entries that come, calls that change, messages that wait; none of them moves an open card
//   Settling         an ended card keeps its place until nobody can be hit by what moves
//   Live             the socket, and the plain requests that make up for it
//   Forms, Drafts    answering by htmx, what can go wrong, and half-filled forms that survive a reload
//   Composer         writing to the agent, moving what waits, stopping and archiving
//   Place            a conversation opens at its end, and where it was left
//   Start
//
// Keyboard shortcuts are in keyboard.js, and the copy buttons in copying.js.
//
// The socket is ours and not htmx's hx-ws: that one replaces by id whatever comes, while a frame here must never bring back an older
// version, take focus, scroll, or move what is under the pointer; nor does hx-ws reopen after the back-forward cache.
'use strict'
;(() => {
  const root = document.documentElement
  const $ = (selector, within = document) => within.querySelector(selector)
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)]
  const cards = $('#cards')
  const timeline = $('#timeline')
  const view = cards?.dataset.view // inbox, conversation, or one
  const isOpen = (card) => card?.dataset.state === 'open'
  const idOf = (card) => card.id.slice('interaction-'.length)
  const cardOf = (element) => element?.closest?.('article.card')
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties)
  const on = (type, act, options) => document.addEventListener(type, act, options)
  const onCard = (type, act) => on(type, (event) => cardOf(event.target) && act(cardOf(event.target), event))
  const stop = (event) => (event.preventDefault(), event.stopImmediatePropagation())
  const setText = (element, text) => element.textContent === text || (element.textContent = text)

  // ---- Times ----
  // The server says how old a thing was when it wrote the page, and how long it has left. From there this counts with
  // performance.now(): the clock of the viewer may be wrong. The words are those of views/time.go.

  const arrived = new WeakMap() // element → performance.now() when it came
  const elapsed = (element) => {
    if (!arrived.has(element)) arrived.set(element, performance.now())
    return (performance.now() - arrived.get(element)) / 1000
  }
  const span = (s) =>
    s < 60 ? `${Math.max(0, Math.floor(s))} s` : s < 3600 ? `${Math.floor(s / 60)} min` : s < 86400 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400)} d`
  const ago = (s) => (s < 2 ? 'just now' : `${span(s)} ago`)
  const left = (s) => (s <= 0 ? 'expiring' : `expires in ${s < 120 ? `${Math.floor(s)} s` : span(s)}`)
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
  const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })

  function localize(within) {
    for (const time of $$('time[datetime]', within)) {
      const at = new Date(time.dateTime)
      time.title = exact.format(at)
      if ('clock' in time.dataset) setText(time, clock.format(at))
      if ('exact' in time.dataset) setText(time, exact.format(at))
    }
    for (const element of $$('[data-age], [data-remaining], [data-late-in]', within)) elapsed(element)
  }

  function tick() {
    for (const element of $$('[data-age]')) {
      const age = Number(element.dataset.age) + elapsed(element)
      setText(element, 'ago' in element.dataset ? ago(age) : span(age))
    }
    for (const element of $$('[data-remaining]')) {
      const rest = Number(element.dataset.remaining) - elapsed(element)
      setText(element, left(rest))
      element.classList.toggle('soon', rest < 120)
      if (rest <= 0 && !element.dataset.over) {
        element.dataset.over = 'asked' // the server ends it: ask what became of it
        reconcile()
      }
    }
    for (const late of $$('[data-late-in][hidden]')) {
      if (Number(late.dataset.lateIn) > elapsed(late)) continue
      late.hidden = false
      late.previousElementSibling.hidden = true
    }
  }

  // An equal version says nothing new about the card, but it may say better how old it is: performance.now() stands still while
  // a machine sleeps.
  function refreshTimes(card, incoming) {
    const [old, fresh] = [card, incoming].map((one) => $$('[data-age], [data-remaining]', one))
    if (old.length !== fresh.length) return
    old.forEach((element, i) => {
      Object.assign(element.dataset, fresh[i].dataset)
      arrived.set(element, performance.now())
    })
  }

  // ---- Badge ----

  const icon = $('link[rel=icon]')
  const plainIcon = icon?.href
  const plainTitle = document.title.replace(/^\(\d+\) /, '')
  let open = Number(root.dataset.open)

  function dottedIcon(n) {
    const label = n > 99 ? '' : `<text x="22" y="27" font-family="sans-serif" font-size="15" font-weight="700" fill="#fff" text-anchor="middle">${n}</text>`
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#5046e4" d="M7 1h12a7 7 0 0 1 7 7v6a7 7 0 0 1-7 7h-6l-7 5v-5a7 7 0 0 1-6-7V8a7 7 0 0 1 7-7Z"/><circle cx="22" cy="22" r="10" fill="#d92d20"/>${label}</svg>`
    return `data:image/svg+xml,${encodeURIComponent(svg)}`
  }

  function setOpen(n) {
    open = Math.max(0, n)
    document.title = open ? `(${open}) ${plainTitle}` : plainTitle
    if (icon) icon.href = open ? dottedIcon(open) : plainIcon
    for (const badge of $$('[data-open-count]')) {
      badge.firstChild.data = String(open)
      badge.hidden = open === 0
    }
  }

  // ---- Cards ----

  const announcement = $('#announce')
  function announce(words) {
    announcement.append(make('p', { textContent: words }))
    while (announcement.childElementCount > 4) announcement.firstChild.remove()
  }
  on('sayso:announce', (event) => announce(event.detail))

  const titleOf = (card) => $('[id$="-title"]', card)?.textContent.trim() ?? ''
  const headingOf = (card) => (isOpen(card) ? $('.card-title', card) : $('summary', card))
  const waiting = new Map() // card id → frame that came while its answer was on the way

  // apply does to the page what a frame or a list of cards says. own is the id of the card whose form this answers. It returns the newest
  // event that the frame tells of.
  function apply(html, own = '') {
    if (!cards) return 0
    const frame = new DOMParser().parseFromString(html, 'text/html')
    const before = open
    const newest = newestIn(frame)
    const entries = newEntries(frame)
    const known = (element) => !entries.includes(element.closest('[data-entry]'))
    const changed = $$('article[data-version]', frame).filter(known)
    const calls = $$('[data-call]', frame).filter(known)
    steady(() => changed.forEach((incoming) => applyCard(incoming, incoming.id === own)), writing())
    steady(() => applyTimeline(frame, entries, calls))
    const count = $('#open-count', frame)
    if (count) setOpen(Number(count.dataset.open))
    else if (view === 'inbox') setOpen($$('article[data-state=open]', cards).length)
    else if (open !== before) setOpen(open)
    const empty = $('#empty')
    if (empty) empty.hidden = $('article', cards) !== null
    tellComposer()
    settle()
    return newest
  }

  function applyCard(incoming, own) {
    const card = document.getElementById(incoming.id)
    if (!card) return insert(incoming)
    const newer = Number(incoming.dataset.version) - Number(card.dataset.version)
    const same = mayAnswer(card) === mayAnswer(incoming) // or whoever looks has another role now
    if (newer < 0 || (newer === 0 && !own && same)) return newer === 0 && refreshTimes(card, incoming)
    if (card.ariaBusy === 'true' && !own) return waiting.set(incoming.id, incoming.outerHTML)
    if (isOpen(card) && isOpen(incoming) && !own && same) return update(card, incoming)
    replace(card, incoming, own)
  }

  const mayAnswer = (card) => !$('.card-readonly', card)

  function applyWaiting(id) {
    if (waiting.has(id)) apply(waiting.get(id))
    waiting.delete(id)
  }

  // update leaves alone what a person may be reading or filling in: the request of an open card never changes, only its head.
  function update(card, incoming) {
    const [head, fresh] = [card, incoming].map((one) => $('[data-head]', one))
    const focused = head.contains(document.activeElement)
    head.replaceWith(fresh)
    card.dataset.version = incoming.dataset.version
    localize(fresh)
    if (focused) $('a', fresh)?.focus({ preventScroll: true })
  }

  function replace(card, incoming, own) {
    const focused = card.contains(document.activeElement)
    const wasOpen = isOpen(card)
    const { height } = card.getBoundingClientRect()
    const drafted = wasOpen && !isOpen(incoming) ? draftedTexts(card) : []
    const fresh = document.adoptNode(incoming)
    carryOver(card, fresh, own ? [] : drafted)
    card.replaceWith(fresh)
    window.htmx?.process(fresh)
    localize(fresh)
    if (isOpen(fresh)) {
      const problem = $('.problem:not(:empty)', fresh)
      const field = problem && $('input, textarea', problem.closest('fieldset, .more-field'))
      if (focused) (field ?? $('[data-focus]', fresh) ?? headingOf(fresh)).focus()
      guard($$('article', cards)) // all below has moved: a second click was not meant for what is there now
      return
    }
    if (wasOpen || held.has(card)) hold(fresh, height, held.get(card))
    held.delete(card)
    if (wasOpen) {
      open--
      forgetDraft(fresh)
      announce(`${fresh.dataset.outcome}: ${titleOf(fresh)}`)
    }
    if (focused) moveFocus(fresh, wasOpen)
  }

  // carryOver keeps what belongs to this page and not to the card: whether it is opened, and what was typed in vain.
  function carryOver(card, fresh, drafted) {
    const details = $('details.ended', fresh)
    if (!details) return
    details.open = $('details.ended', card)?.open ?? details.open
    let kept = $('[data-keep]', fresh) ?? $('[data-keep]', card)
    if (!kept && drafted.length) {
      kept = $('#typed-in-vain').content.firstElementChild.cloneNode(true)
      $('[data-told-here]', kept).replaceChildren(...$('[data-told]', fresh).cloneNode(true).childNodes)
      $('.typed-text', kept).textContent = drafted.join('\n\n')
    }
    if (kept) details.open = true
    if (kept && !fresh.contains(kept)) $('.ended-body', fresh).prepend(kept)
  }

  // moveFocus follows an answer to the next open card, or stays where it was if the card had ended before.
  function moveFocus(card, justEnded) {
    const all = $$('article', cards)
    const next = justEnded && !$('[data-keep]', card) ? all.slice(all.indexOf(card) + 1).concat(all).find(isOpen) : null
    headingOf(next ?? card)?.focus({ preventScroll: true })
    document.dispatchEvent(new Event('sayso:moved-focus')) // keyboard.js rests for a moment
  }

  function insert(incoming) {
    if (!isOpen(incoming) || !cards || view === 'one') return
    const home = view === 'inbox' ? groupFor(incoming.closest('[data-group]')) : cards
    const article = document.adoptNode(incoming)
    home.append(article)
    window.htmx?.process(article)
    localize(article)
    restoreDraft(article)
    guard([article])
    open++
    announce(`New request: ${titleOf(article)}`)
  }

  // groupFor is the agent's group in the inbox. If a later group is in view where the pointer or a finger may be about to press,
  // putting a card above it would move it: then the card goes to the end, under the agent's name once more.
  function groupFor(incoming) {
    if (!incoming) return cards
    const mine = $$('[data-group]', cards).filter((group) => group.dataset.agent === incoming.dataset.agent).pop()
    const later = $$('[data-group]', cards).filter((group) => mine && mine.compareDocumentPosition(group) & Node.DOCUMENT_POSITION_FOLLOWING)
    if (mine && (pointer === 'none' || later.every((group) => group.getBoundingClientRect().top > innerHeight))) return mine
    const group = document.importNode(incoming, true)
    for (const card of $$('article', group)) card.remove()
    if (mine) {
      const copies = $$('[data-group]', cards).length
      group.id += `-${copies}`
      $('h2', group).id += `-${copies}`
      group.setAttribute('aria-labelledby', $('h2', group).id)
    }
    cards.append(group)
    return group
  }

  // ---- Timeline ----
  // Entries come above the open cards. The window moves along, so that the cards stay where they are in it; where the page is too short to
  // scroll that far it gets room below, until that can be taken back without hitting anybody (see "Settling").

  const main = $('main')
  const firstNew = timeline?.dataset.last ? Number(timeline.dataset.last) : Infinity // older entries than these are on other pages
  let confirmed = firstNew // up to which event the server has told all: a frame may have been missed before the newest one

  const sequenceOf = (entry) => Number(entry.dataset.sequence)
  const newestIn = (frame) =>
    Math.max(0, ...$$('[data-sequence]', frame).map(sequenceOf), Number($('#timeline-last', frame)?.dataset.last ?? 0))

  // newEntries are those that the page does not have. An interaction that is on the page, where it was open, is not told twice; nor is the result
  // of a call that is on the page, which shows it.
  function newEntries(frame) {
    const isNew = (entry) => sequenceOf(entry) > firstNew && !document.getElementById(entry.id)
    const onPage = (entry) => $$('article, [data-result-of]', entry).some((part) => document.getElementById(part.dataset.resultOf ?? part.id))
    return $$('[data-entry]', frame).filter((entry) => isNew(entry) && !onPage(entry))
  }

  function applyTimeline(frame, entries, calls) {
    entries.forEach(insertEntry)
    calls.forEach(applyCall)
    applyInputs($('#waiting', frame))
    applyAgent($('#agent-state', frame))
  }

  function insertEntry(incoming) {
    let next = null // most come in their order, so look from the end
    for (let before = timeline.lastElementChild; before && sequenceOf(before) > sequenceOf(incoming); before = before.previousElementSibling) next = before
    const entry = document.adoptNode(incoming)
    timeline.insertBefore(entry, next)
    timeline.dataset.last = sequenceOf(timeline.lastElementChild)
    localize(entry)
    $('[data-until-first]')?.remove()
    const who = $('[data-said]', entry)
    if (who) announce(`New message: ${who.textContent.trim()}`)
  }

  function applyCall(incoming) {
    const call = document.getElementById(incoming.id)
    if (!call || Number(incoming.dataset.version) <= Number(call.dataset.version)) return
    const focused = call.contains(document.activeElement)
    $('details', incoming).open = $('details', call).open
    const fresh = document.adoptNode(incoming)
    call.replaceWith(fresh)
    localize(fresh)
    if (focused) $('summary', fresh).focus({ preventScroll: true })
  }

  // applyInputs keeps the focus on the same button of the same message, or near it.
  function applyInputs(incoming) {
    const section = $('#waiting')
    const newer = incoming && section ? Number(incoming.dataset.version) - Number(section.dataset.version) : -1
    if (newer < 0) return
    if (newer === 0 && incoming.dataset.version !== '0') return refreshTimes(section, incoming)
    const focused = section.contains(document.activeElement) ? document.activeElement : null
    const fresh = document.adoptNode(incoming)
    section.replaceWith(fresh)
    window.htmx?.process(fresh)
    localize(fresh)
    if (focused) nearest(fresh, focused).focus({ preventScroll: true })
  }

  function nearest(section, lost) {
    const same = lost.id && document.getElementById(lost.id)
    const item = document.getElementById(lost.closest('li')?.id ?? '')
    const place = same || (item && $('button', item)) || $('button', section)
    return place ?? $('#composer-text') ?? main
  }

  function applyAgent(incoming) {
    const state = $('#agent-state')
    if (!incoming || !state) return
    const fresh = document.adoptNode(incoming)
    state.replaceWith(fresh)
    localize(fresh)
    if ('archived' in fresh.dataset) closeComposer()
  }

  const topOfWindow = () => $('.top')?.getBoundingClientRect().bottom ?? 0
  const bottomOfWindow = () => Math.min(innerHeight, $('.rail')?.getBoundingClientRect().top || innerHeight)

  function inWindow(element) {
    const { top, bottom } = element.getBoundingClientRect()
    return bottom > topOfWindow() && top < bottomOfWindow()
  }

  // fixture is what must not move: an open card in the window, or else the composer.
  const fixture = () => timeline && $$('#cards article[data-state=open], #composer, .composer-absent').find(inWindow)

  // writing is the composer while somebody writes in it: a new card above it must not push it away from under the words.
  const writing = () => pointer !== 'over' && document.activeElement?.id === 'composer-text' && document.activeElement

  function steady(change, fixed = fixture()) {
    if (!fixed) return change()
    root.style.overflowAnchor = 'none' // or the browser would do the same once more
    const { top } = fixed.getBoundingClientRect()
    const moved = () => (fixed.isConnected ? fixed.getBoundingClientRect().top - top : 0)
    change()
    scrollBy({ top: moved(), behavior: 'instant' })
    if (moved() >= 1 && isOpen(fixed)) {
      main.style.minHeight = `${main.offsetHeight + moved()}px`
      scrollBy({ top: moved(), behavior: 'instant' })
    }
    requestAnimationFrame(() => (root.style.overflowAnchor = ''))
  }

  // ---- Settling ----
  // A card that ends shows its outcome in the room it had, and shrinks to one line when that can surprise nobody: some seconds
  // later, with no pointer over the cards, no finger just there, and nobody typing.

  const held = new Map() // card → since when
  const guarded = new WeakMap() // card → until when its buttons ignore input
  const calm = matchMedia('(prefers-reduced-motion: reduce)')
  let pointer = 'none' // where one may press next: none, over (the cards), touch (anywhere)
  let lastInput = -Infinity

  const isGuarded = (card) => (guarded.get(card) ?? 0) > performance.now()

  function guard(articles) {
    for (const article of articles) {
      guarded.set(article, performance.now() + 500)
      subdue(article, true)
    }
    setTimeout(() => articles.filter((article) => !isGuarded(article)).forEach((article) => subdue(article, article.ariaBusy === 'true')), 500)
  }

  // subdue shows that the buttons do nothing now. Really disabled ones would lose the focus.
  const subdue = (card, on) => $$('form .btn', card).forEach((button) => (button.ariaDisabled = on ? 'true' : null))

  for (const type of ['pointermove', 'pointerdown', 'pointerup', 'keydown', 'wheel', 'scroll'])
    on(type, (event) => {
      lastInput = performance.now()
      if (event.pointerType) pointer = event.pointerType === 'touch' ? 'touch' : cards?.contains(event.target) ? 'over' : 'none'
    }, { passive: true, capture: true })
  root.addEventListener('pointerleave', () => (pointer = 'none'))

  function hold(card, height, since = performance.now()) {
    card.style.height = `${height}px`
    card.classList.add('settling')
    const details = $('details.ended', card)
    details.open = true
    // Whoever submits a long form looks at its end: the outcome begins where the window does, and not above it.
    const above = hiddenAbove(card)
    details.style.marginTop = above > 0 && above < height ? `${above}px` : ''
    held.set(card, since)
  }

  // hiddenAbove is how much of the card is above the window, below the sticky header.
  const hiddenAbove = (card) => ($('.top')?.getBoundingClientRect().bottom ?? 0) + 8 - card.getBoundingClientRect().top

  // release gives a card its own height again; its line stays where it was in the window.
  function release(card) {
    const details = $('details.ended', card)
    const shifted = details.style.marginTop !== ''
    card.style.height = details.style.marginTop = ''
    const above = hiddenAbove(card)
    if (shifted && above > 0) scrollBy(0, -above)
  }

  function settle() {
    const now = performance.now()
    if (pointer === 'over' || now - lastInput < 2000) return
    if (document.activeElement?.matches('input:not([type=radio], [type=checkbox]), article textarea')) return
    if (main?.style.minHeight) {
      main.style.minHeight = ''
      guard($$('article', cards))
    }
    const due = [...held].filter(([card, since]) => now - since > 4000 && !card.contains(document.activeElement))
    for (const [card] of due) shrink(card)
    if (due.length) guard($$('article', cards))
  }

  function shrink(card) {
    held.delete(card)
    const details = $('details.ended', card)
    const from = card.offsetHeight - parseFloat(details.style.marginTop || 0)
    if (!$('[data-keep]', card)) details.open = false
    release(card)
    const finish = () => card.classList.remove('settling')
    if (calm.matches) return finish()
    card.animate({ height: [`${from}px`, `${card.offsetHeight}px`] }, { duration: 180, easing: 'ease-out' }).finished.then(finish, finish)
  }

  // Opening or closing a card by hand ends the wait: that movement was asked for.
  on('click', (event) => {
    const card = event.target.closest?.('summary.ended-line')?.closest('article')
    if (!held.delete(card)) return
    release(card)
    card.classList.remove('settling')
  })

  // ---- Live ----

  const status = $('#live')
  let socket, socketTimer, pollTimer, pollEvery, opened = false, signedOut = false, failures = 0, etags = {}, asking = false, askAgain = false

  function say(state) {
    if (!status || status.dataset.state === state) return
    status.dataset.state = state
    if (state === 'live') status.textContent = 'Live'
    if (state === 'polling') status.textContent = 'Updates every 10 s'
    if (state !== 'signed-out') return
    status.replaceChildren('You are signed out. ', make('a', { href: root.dataset.signin, textContent: 'Sign in' }))
    announce('You are signed out.')
  }

  // reconcile asks for the cards as they are now: the socket only makes this faster.
  async function reconcile() {
    if (!cards?.dataset.cards || signedOut) return
    if (asking) return void (askAgain = true)
    asking = true
    await ask().catch(() => {}) // no connection: the next round is soon enough
    asking = false
    if (!askAgain) return
    askAgain = false
    reconcile()
  }

  // ask names the cards that the page has, in parts: an address may be only so long.
  async function ask() {
    const have = $$('main article[data-version]:not([data-final])').map(idOf)
    for (let n = 0; n === 0 || n < have.length; n += 150) await askFor(have.slice(n, n + 150), n)
  }

  async function askFor(have, part) {
    const url = new URL(cards.dataset.cards, location)
    url.searchParams.set('have', have.join(','))
    if (part === 0 && confirmed < Infinity) url.searchParams.set('after', confirmed)
    const headers = { 'If-None-Match': etags[part] ?? '' }
    const response = await fetch(url, { headers, cache: 'no-store', redirect: 'manual', signal: AbortSignal.timeout(15000) })
    if (response.status === 401 || response.type === 'opaqueredirect') return signOut()
    if (response.status !== 200) return
    const newest = apply(await response.text())
    if (part === 0 && confirmed < Infinity) confirmed = Math.max(confirmed, newest)
    etags[part] = response.headers.get('ETag') ?? ''
  }

  function signOut() {
    signedOut = true
    socket?.close()
    clearTimeout(socketTimer)
    poll(0)
    say('signed-out')
  }

  function poll(seconds) {
    if (pollEvery === seconds) return
    pollEvery = seconds
    clearInterval(pollTimer)
    if (seconds) pollTimer = setInterval(reconcile, seconds * 1000)
  }

  function degrade() {
    if (signedOut || opened) return
    say('polling')
    poll(10)
  }

  function connect() {
    clearTimeout(socketTimer)
    if (!cards?.dataset.live || signedOut || (socket && socket.readyState <= WebSocket.OPEN)) return
    const url = new URL(cards.dataset.live, location)
    url.protocol = url.protocol.replace('http', 'ws')
    const mine = (socket = new WebSocket(url))
    const slow = setTimeout(degrade, 5000)
    mine.onopen = () => {
      opened = true
      failures = 0
      clearTimeout(slow)
      say('live')
      poll(30)
      reconcile()
    }
    mine.onmessage = (event) => apply(event.data)
    mine.onclose = (event) => {
      clearTimeout(slow)
      if (mine === socket) closed(event.code)
    }
  }

  function closed(code) {
    if (code === 1008) return signOut()
    failures = opened ? 0 : failures + 1
    opened = false
    setTimeout(degrade, failures >= 3 ? 0 : 5000)
    const wait = code === 1012 ? 200 : Math.min(30000, 500 * 2 ** failures)
    socketTimer = setTimeout(connect, wait * (0.5 + Math.random()))
  }

  // Somebody who comes back may have signed in again elsewhere.
  function wake() {
    signedOut = false
    if (!opened) poll(30)
    connect()
    reconcile()
  }

  // The wall clock runs on while a machine sleeps and performance.now() may not. When they part, all counts are wrong: ask anew.
  let drift = Date.now() - performance.now()
  function noticeSleep() {
    const before = drift
    drift = Date.now() - performance.now()
    if (Math.abs(drift - before) < 5000) return
    etags = {}
    wake()
  }

  // ---- Forms ----

  const trouble = {
    unreachable: 'Could not reach Sayso. Nothing was recorded. Try again.',
    slow: 'No reply from Sayso within 30 s. If your answer was recorded, this card will say so; trying again counts once.',
    signedOut: 'You are signed out. Nothing was recorded. What you typed stays here while you sign in.',
    forbidden: 'You may not answer this request. Nothing was recorded.',
  }

  function setBusy(card, busy) {
    card.ariaBusy = String(busy)
    subdue(card, busy)
  }

  const showError = (card, words) => setText($('[data-error]', card), words)

  // unanswered says next to each question what is missing, and focuses the first.
  function unanswered(form) {
    const missing = $$('[data-question]', form).filter((question) => {
      const chosen = $('input:checked', question)
      const words = $('input[type=checkbox]', question) ? 'Choose at least one option.' : 'Choose an option.'
      setText($('[data-problem]', question), chosen ? '' : words)
      return !chosen
    })
    $('input', missing[0] ?? make('p'))?.focus()
    return missing.length > 0
  }

  on('submit', (event) => {
    const card = cardOf(event.target)
    if (!card || !event.target.hasAttribute('hx-post')) return
    if (event.submitter?.hidden) return stop(event) // Enter on a box
    if (isGuarded(card) || card.ariaBusy === 'true' || unanswered(event.target)) stop(event)
  }, true)

  on('click', (event) => {
    const button = event.target.closest?.('button, summary')
    if (button && isGuarded(cardOf(button))) stop(event)
  }, true)

  // Whoever opens the reason wants to write it. The focus goes there at once: a first letter typed elsewhere could be a shortcut.
  on('click', (event) => {
    const reveal = event.target.closest?.('.reveal-reason > summary')?.parentElement
    if (!reveal || reveal.open) return
    event.preventDefault()
    reveal.open = true
    $('input', reveal.nextElementSibling).focus()
  })

  // Enter that ends a composition (Japanese, Chinese, Korean) must not send. Safari reports it as key code 229.
  on('keydown', (event) => {
    if (event.key === 'Enter' && (event.isComposing || event.keyCode === 229) && event.target.matches('input')) event.preventDefault()
  }, true)

  on('change', (event) => {
    const question = event.target.closest?.('[data-question]')
    if (question) setText($('[data-problem]', question), '')
  })

  // Text of an option that is not chosen is hidden, and not part of the answer. A button may have an address of its own, which htmx would
  // pass over.
  on('htmx:config:request', (event) => {
    const { sourceElement, request } = event.detail.ctx
    if (request.submitter?.hasAttribute('formaction')) request.action = request.submitter.formAction
    for (const field of $$('[data-question] .option-details input', sourceElement)) {
      if (!$('.allows-text:checked', field.closest('[data-question]'))) request.body.delete(field.name)
    }
  })

  onCard('htmx:before:request', (card) => {
    showError(card, '')
    setBusy(card, true)
  })

  // htmx would swap; apply does, by the rules above.
  onCard('htmx:after:request', (card, event) => {
    event.preventDefault()
    setBusy(card, false)
    answered(card, event.detail.ctx)
    applyWaiting(card.id)
  })

  function answered(card, { response: { status, raw }, text }) {
    if ((status === 200 || status === 422) && text.includes(`id="${card.id}"`)) return apply(text, card.id)
    if (status === 401 || raw.redirected) {
      showError(card, trouble.signedOut)
      return signOut()
    }
    const plain = status < 500 && text.length < 300 && !text.includes('<') && text.trim()
    showError(card, status === 403 ? trouble.forbidden : plain || trouble.unreachable)
  }

  onCard('htmx:error', (card, event) => {
    setBusy(card, false)
    showError(card, event.detail.error === 'timeout' ? trouble.slow : trouble.unreachable)
    applyWaiting(card.id)
    reconcile()
  })

  // ---- Drafts ----

  const draftKey = (card) => `sayso:draft:${idOf(card)}`
  const textFields = (card) => $$('form :is(input[type=text], textarea)', card)
  const changed = (field) => field.matches('input') || field.value !== field.defaultValue // a textarea begins with what the agent sent
  const reviewed = (card) => $$('.permission-actions input[type=hidden]:is([name=note], [name=updated_input])', card)
  const draftedTexts = (card) => [...textFields(card).filter(changed), ...reviewed(card)].map((field) => field.value.trim()).filter(Boolean)

  const draftOf = (card) => JSON.parse(sessionStorage.getItem(draftKey(card)) ?? 'null') ?? { texts: {}, chosen: [] }
  const forgetDraft = (card) => sessionStorage.removeItem(draftKey(card))

  // saveDraft keeps what belongs to fields that are not there now: those of an input that is being looked at.
  function saveDraft(card) {
    const before = draftOf(card)
    const texts = { ...before.texts }
    for (const field of textFields(card)) texts[field.id] = changed(field) ? field.value : ''
    const gone = before.chosen.filter((id) => !document.getElementById(id))
    const chosen = $$('input:checked', card).map((input) => input.id).concat(gone)
    sessionStorage.setItem(draftKey(card), JSON.stringify({ texts, chosen }))
  }

  function restoreDraft(card) {
    const draft = draftOf(card)
    for (const field of textFields(card)) {
      const text = draft.texts[field.id]
      if (!text || (field.matches('input') ? field.value : changed(field))) continue
      field.value = text
      unfold(field)
    }
    for (const id of $('input:checked', card) ? [] : draft.chosen) {
      const input = document.getElementById(id)
      if (!input) continue
      input.click()
      unfold(input)
    }
  }

  // unfold opens what a field is folded away in.
  function unfold(field) {
    const reveal = field.closest('.revealed')?.previousElementSibling
    const details = field.closest('details')
    if (reveal) reveal.open = true
    if (details) details.open = true
  }

  onCard('input', (card) => isOpen(card) && saveDraft(card))

  // ---- Composer ----
  // The forms around the conversation that are not cards: the message, what waits, Stop and Archive. The text in the page is never replaced:
  // only success empties it.

  const compose = $('[data-compose]')
  const text = compose && $('textarea', compose)
  const composed = compose && `sayso:draft:${new URL(compose.action).pathname}`
  const postOf = (event) => event.target.closest?.('form[data-post]')
  const onPost = (type, act, options) => on(type, (event) => postOf(event) && act(postOf(event), event), options)
  const counted = (n, noun) => (n === 1 ? `1 ${noun}` : `${n} ${noun}s`)
  const sent = new WeakMap() // form → the text that is on its way

  const postTrouble = {
    ...trouble,
    slow: 'No reply from Sayso within 30 s. Look whether it happened before you try again.',
    forbidden: 'You may not do this. Nothing was recorded.',
  }

  // tellComposer says how many requests are open and how many messages wait, in the words of views/timeline.go.
  function tellComposer() {
    if (!compose) return
    const open = $$('article[data-state=open]', cards).length + Number(cards.dataset.more)
    const inputs = $$('#waiting li').length
    const check = $('[data-while-open]', compose)
    check.hidden = open === 0
    if (open === 0) $('input', check).checked = false
    setText($('[data-open-here]', compose), String(open))
    for (const words of $$('[data-cancels]')) setText(words, open ? `Cancels ${counted(open, 'open request')}.` : 'No request is open.')
    for (const words of $$('[data-ends]')) setText(words, inputs ? `Ends ${counted(inputs, 'waiting message')}.` : 'No message is waiting.')
  }

  // closeComposer takes away what an archived agent has no use for, and leaves what was typed to take along.
  function closeComposer() {
    const composer = $('#composer')
    if (!composer) return
    const focused = composer.contains(document.activeElement)
    const typed = $('#typed-in-vain').content.querySelector('.typed').cloneNode(true)
    $('.typed-text', typed).textContent = text.value
    composer.replaceWith($('#archived-live').content.cloneNode(true), ...(text.value.trim() ? [typed] : []))
    if (focused) main.focus({ preventScroll: true })
  }

  const errorOf = (form) => $('[data-error]', $('[data-error]', form) ? form : form.closest('section'))

  onPost('submit', (form, event) => {
    if (form.ariaBusy === 'true') return stop(event)
    if (form === compose) sent.set(form, text.value)
  }, true)

  // Only Send now can cancel what is open.
  on('htmx:config:request', (event) => {
    const { body } = event.detail.ctx.request
    if (event.detail.ctx.sourceElement === compose && body.get('mode') !== 'steering') body.delete('cancel_open_interactions')
  })

  function setPosting(form, busy) {
    form.ariaBusy = String(busy)
    subdue(form, busy)
  }

  onPost('htmx:before:request', (form) => {
    setText(errorOf(form), '')
    setPosting(form, true)
  })

  onPost('htmx:after:request', (form, event) => {
    event.preventDefault()
    setPosting(form, false)
    posted(form, event.detail.ctx)
  })

  onPost('htmx:error', (form, event) => {
    setPosting(form, false)
    setText(errorOf(form), event.detail.error === 'timeout' ? postTrouble.slow : postTrouble.unreachable)
    reconcile()
  })

  function posted(form, { response: { status, raw }, text: answer }) {
    if (status === 401 || raw.redirected) {
      setText(errorOf(form), postTrouble.signedOut)
      return signOut()
    }
    if (status < 300) {
      done(form)
      return apply(answer)
    }
    refuse(form, status, answer)
    apply(answer)
    reconcile()
  }

  // refuse says why nothing happened: in the words of the composer that came back, or in the answer's own.
  function refuse(form, status, answer) {
    const problem = $('#composer-problem', new DOMParser().parseFromString(answer, 'text/html'))?.textContent
    const plain = status < 500 && answer.length < 300 && !answer.includes('<') && answer.trim()
    setText(errorOf(form), problem || (status === 403 ? postTrouble.forbidden : plain || postTrouble.unreachable))
  }

  function done(form) {
    if (form === compose) return emptied()
    const details = form.closest('details')
    if (!details) return
    const focused = details.contains(document.activeElement)
    details.open = false
    if (focused) $('summary', details).focus({ preventScroll: true })
  }

  // emptied leaves what was typed on while the message was on its way.
  function emptied() {
    if (text.value === sent.get(compose)) text.value = ''
    sessionStorage.setItem(composed, text.value)
    $('[data-while-open] input', compose).checked = false
    text.focus({ preventScroll: true })
  }

  // What Stop and Archive ask opens below them, which may be below the window.
  on('toggle', (event) => event.target.matches('.confirm[open]') && event.target.scrollIntoView({ block: 'nearest' }), true)

  compose?.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing || event.target !== text) return
    event.preventDefault()
    compose.requestSubmit($('[value=queued]', compose))
  })

  text?.addEventListener('input', () => {
    sessionStorage.setItem(composed, text.value)
    setText(errorOf(compose), '')
  })

  // ---- Place ----

  const placeKey = `sayso:place:${location.pathname}${location.search}`
  const atEnd = () => scrollY + innerHeight >= root.scrollHeight - 8

  // findPlace opens a conversation at its end, or so that what waits longest can be seen and answered. Whoever comes back finds it where it was
  // left; at the end means at the end of now.
  function findPlace() {
    history.scrollRestoration = 'manual'
    const [{ type }] = performance.getEntriesByType('navigation')
    const was = type === 'navigate' ? null : JSON.parse(sessionStorage.getItem(placeKey) ?? 'null')
    if (was && !was.end) scrollTo(0, was.y)
    else if (!location.hash) {
      scrollTo(0, root.scrollHeight)
      const first = $('#cards article[data-state=open]')
      const tall = first?.offsetHeight > bottomOfWindow() - topOfWindow()
      first?.scrollIntoView({ block: tall ? 'start' : 'nearest' }) // a tall one is read from its beginning; its buttons stick to the end
    }
  }

  // ---- Start ----

  on('click', (event) => {
    const menu = $('.account[open]')
    if (menu && !menu.contains(event.target)) menu.open = false
  })
  root.classList.add('js')
  localize(document)
  setOpen(open)
  for (const card of $$('article[data-state=open]')) restoreDraft(card)
  if (text && !text.value) text.value = sessionStorage.getItem(composed) ?? ''
  tellComposer()
  if (timeline) {
    findPlace()
    addEventListener('pagehide', () => sessionStorage.setItem(placeKey, JSON.stringify({ y: scrollY, end: atEnd() })))
  }
  setInterval(() => {
    tick()
    settle()
    noticeSleep()
  }, 1000)
  if (cards?.dataset.cards) {
    wake()
    on('visibilitychange', () => document.visibilityState === 'visible' && wake())
    addEventListener('pageshow', (event) => event.persisted && wake())
    addEventListener('pagehide', () => {
      opened = false
      socket?.close()
    })
  }
})()

// What runs in the frame of another app. The dashboard's script is app.js; this one has no cookies, no storage and no address of its own to
// rely on, and trusts the page around it with nothing.
//
//   Times            relative times go on
//   Around           the page around the frame: who it is, what it may say and what it is told
//   Session          a token becomes a session, which goes into a header
//   Cards            what the server says to the page
//   Forms            answering
//   Arming           Allow works only when all that it allows has really been seen
//   Live             the socket, and the plain requests that make up for it
//   Start
'use strict'
;(() => {
  const root = document.documentElement
  const $ = (selector, within = document) => within.querySelector(selector)
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)]
  const main = $('main')
  const cards = $('#cards')
  const here = new URL(main.dataset.frame, location).href // everything that is asked for lies below
  const idOf = (card) => card.id.slice('interaction-'.length)
  const cardOf = (element) => element?.closest?.('article.card')
  const isOpen = (card) => card?.dataset.state === 'open'
  const openCards = () => $$('article[data-state=open]', cards)
  const setText = (element, text) => element && (element.textContent === text || (element.textContent = text))

  // ---- Times ----
  // As in app.js, in the words of views/time.go: counted from when the server wrote them.

  const arrived = new WeakMap()
  const elapsed = (element) => {
    if (!arrived.has(element)) arrived.set(element, performance.now())
    return (performance.now() - arrived.get(element)) / 1000
  }
  const span = (s) =>
    s < 60 ? `${Math.max(0, Math.floor(s))} s` : s < 3600 ? `${Math.floor(s / 60)} min` : s < 86400 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400)} d`
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

  function localize(within) {
    for (const time of $$('time[datetime]', within)) {
      time.title = exact.format(new Date(time.dateTime))
      if ('exact' in time.dataset) setText(time, time.title)
    }
    for (const element of $$('[data-age], [data-remaining], [data-late-in]', within)) elapsed(element)
  }

  function tick() {
    for (const element of $$('[data-age]')) {
      const age = Number(element.dataset.age) + elapsed(element)
      setText(element, !('ago' in element.dataset) ? span(age) : age < 2 ? 'just now' : `${span(age)} ago`)
    }
    for (const element of $$('[data-remaining]')) {
      const rest = Number(element.dataset.remaining) - elapsed(element)
      setText(element, rest <= 0 ? 'expiring' : `expires in ${rest < 120 ? `${Math.floor(rest)} s` : span(rest)}`)
      if (rest <= 0 && !element.dataset.over) {
        element.dataset.over = 'asked'
        reconcile()
      }
    }
    for (const late of $$('[data-late-in][hidden]')) {
      if (Number(late.dataset.lateIn) > elapsed(late)) continue
      late.hidden = false
      late.previousElementSibling.hidden = true
    }
  }

  // ---- Around ----

  const allowed = main.dataset.origins.split(' ')
  const mayHold = (origin) =>
    allowed.some((one) => one === origin || (one.endsWith(':*') && (origin === one.slice(0, -2) || origin.startsWith(one.slice(0, -1)))))
  const framed = window.parent !== window
  let port
  let around = framed ? (location.ancestorOrigins?.[0] ?? '') : '' // the origin of the page around us, once it is known

  const tell = (message) => port?.postMessage(message)

  // Nothing that the page around us says can decide anything.
  const said = {
    token: ({ token }) => (typeof token === 'string' && token ? begin(token) : noToken()),
    theme: ({ mode }) => setTheme(mode),
    focus: () => ($('.card-title', cards) ?? main).focus(),
  }

  function connect(event) {
    if (port || event.source !== window.parent || event.data?.sayso !== 'connect' || !event.ports[0] || !mayHold(event.origin)) return
    around = event.origin
    port = event.ports[0]
    port.onmessage = ({ data }) => Object.hasOwn(said, data?.type) && said[data.type](data)
    told.height = 0
    resized()
    if (session) tell({ type: 'ready', open: openCards().length })
    else if (!beginning) needToken()
  }

  function setTheme(mode) {
    const scheme = { light: 'light', dark: 'dark' }[mode]
    if (scheme) root.dataset.theme = scheme
    else delete root.dataset.theme
    $('meta[name=color-scheme]').content = scheme ?? 'light dark'
  }

  const announcement = $('#announce')
  function announce(words) {
    announcement.append(Object.assign(document.createElement('p'), { textContent: words }))
    while (announcement.childElementCount > 4) announcement.firstChild.remove()
  }

  let told = { height: 0, open: -1 }
  function resized() {
    const height = Math.ceil(document.body.getBoundingClientRect().height)
    if (height !== told.height) tell({ type: 'resize', height })
    told.height = height
  }

  function counted() {
    const open = openCards().length
    if (open !== told.open) tell({ type: 'count', open })
    told.open = open
    if (session) show(cards.childElementCount ? '' : 'empty')
  }

  // show says what is the matter, instead of cards or above those that are there.
  const codes = { expired: 'expired', disabled: 'disabled', unknown: 'disabled', origin: 'wrong_origin', unreachable: 'unreachable', alone: 'not_framed' }
  let shown = 'connecting'
  function show(state) {
    if (state === shown) return
    shown = state
    for (const section of $$('.frame-state[data-state]')) section.hidden = section.dataset.state !== state
    if (state && state !== 'connecting') announce($(`.frame-state[data-state=${state}] h2`)?.textContent ?? '')
    if (codes[state]) tell({ type: 'error', code: codes[state] })
  }

  // ---- Session ----

  let session = '' // the secret that goes into the header
  let beginning = false
  let began = 0
  let renewal, tokenTimer

  const headers = (more) => ({ ...(session && { 'Sayso-Embed-Session': session }), ...more })
  const ask = (path, options = {}) =>
    fetch(here + path, { credentials: 'omit', cache: 'no-store', redirect: 'error', signal: AbortSignal.timeout(30000), ...options, headers: headers(options.headers) })

  function needToken() {
    clearTimeout(tokenTimer)
    if (!port) return show(framed ? 'unreachable' : 'alone')
    tell({ type: 'token_needed' })
    tokenTimer = setTimeout(noToken, 20000)
  }

  function noToken() {
    clearTimeout(tokenTimer)
    if (!session) show('unreachable')
  }

  // begin exchanges a token. One that is refused is not asked for again: whoever looks may try, so nothing goes round in circles.
  async function begin(token) {
    clearTimeout(tokenTimer)
    beginning = true
    try {
      const response = await ask('/session', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(around ? { token, origin: around } : { token }) })
      if (response.status !== 201) return refused(response)
      session = (await response.json()).session
      began = performance.now()
      renewBefore(response)
      const first = told.open < 0
      await reconcile()
      if (first) tell({ type: 'ready', open: openCards().length })
      socket?.close()
      connectSocket()
    } catch {
      if (!session) show('unreachable')
    } finally {
      beginning = false
    }
  }

  const refusals = { 400: 'origin', 401: 'expired', 403: 'disabled', 404: 'unknown' }
  function refused({ status }) {
    const state = refusals[status] ?? 'unreachable'
    if (!session || state === 'disabled' || state === 'unknown') end(state) // a session that is good yet is not lost by a bad token
  }

  // renewBefore asks for a new token a minute before the session ends.
  function renewBefore(response) {
    const seconds = Number(response.headers.get('Sayso-Session-Ends-In') ?? NaN)
    if (Number.isNaN(seconds)) return
    clearTimeout(renewal)
    renewal = setTimeout(needToken, Math.max(seconds - 60, seconds / 2) * 1000)
  }

  // end takes away what may not be seen any more; of a session that is merely over, the cards stay, and do nothing.
  function end(state) {
    session = ''
    clearTimeout(renewal)
    clearTimeout(socketTimer)
    socket?.close()
    if (state !== 'expired') cards.replaceChildren()
    show(state)
  }

  on('click', (event) => {
    if (!event.target.closest?.('[data-retry]')) return
    show('connecting')
    needToken()
  })

  // ---- Cards ----

  function on(type, act, options) {
    document.addEventListener(type, act, options)
  }

  // apply does to the page what a frame or a list of cards says. own is the id of the card whose form this answers.
  function apply(html, own = '') {
    for (const incoming of $$('article[data-version]', new DOMParser().parseFromString(html, 'text/html'))) applyCard(incoming, incoming.id === own)
    counted()
    watchAll()
  }

  function applyCard(incoming, own) {
    const card = document.getElementById(incoming.id)
    if (!card) return isOpen(incoming) && insert(incoming)
    const newer = Number(incoming.dataset.version) - Number(card.dataset.version)
    if (newer < 0 || (newer === 0 && !own) || (card.ariaBusy === 'true' && !own)) return
    if (isOpen(card) && isOpen(incoming) && !own) {
      $('[data-head]', card).replaceWith($('[data-head]', incoming)) // the request itself never changes, and somebody may be writing
      card.dataset.version = incoming.dataset.version
      return localize(card)
    }
    replace(card, incoming, own)
  }

  function insert(incoming) {
    const card = document.adoptNode(incoming)
    cards.append(card)
    localize(card)
    announce(`New request: ${$('.card-title', card).textContent.trim()}`)
  }

  // replace keeps the room that a card had when it ends: nothing moves under a finger that is about to press. It is given back later.
  function replace(card, incoming, own) {
    const focused = card.contains(document.activeElement)
    const ended = isOpen(card) && !isOpen(incoming)
    const { height } = card.getBoundingClientRect()
    const typed = ended && !own ? typedIn(card) : ''
    const fresh = document.adoptNode(incoming)
    if (!ended) $('details.ended', fresh)?.toggleAttribute('open', Boolean($('details.ended', card)?.open))
    card.replaceWith(fresh)
    localize(fresh)
    if (ended) hold(fresh, height, typed)
    if (focused) ($('.problem:not(:empty)', fresh)?.closest('fieldset, .more-field')?.querySelector('input') ?? $('.card-title, summary', fresh))?.focus({ preventScroll: true })
  }

  const typedIn = (card) => $$('input[type=text]', card).map((field) => field.value.trim()).filter(Boolean).join('\n\n')

  function hold(card, height, typed) {
    const details = $('details.ended', card)
    details.open = true
    card.style.minHeight = `${height}px`
    if (typed) {
      const kept = $('#typed-in-vain').content.firstElementChild.cloneNode(true)
      $('[data-told-here]', kept).replaceChildren(...$('[data-told]', card).cloneNode(true).childNodes)
      $('.typed-text', kept).textContent = typed
      $('.ended-body', card).prepend(kept)
    }
    announce(`${card.dataset.outcome}: ${$('[id$="-title"]', card).textContent.trim()}`)
    tell({ type: 'resolved', interaction_id: idOf(card), outcome: card.className.match(/card-(allowed|denied|answered|canceled|expired)/)?.[1] ?? '' })
    held.set(card, performance.now())
  }

  const held = new Map() // card → since when
  let lastInput = -Infinity
  for (const type of ['pointermove', 'pointerdown', 'keydown', 'wheel']) on(type, () => (lastInput = performance.now()), { passive: true, capture: true })

  function settle() {
    const now = performance.now()
    if (now - lastInput < 2000) return
    for (const [card, since] of held) {
      if (now - since < 4000 || card.contains(document.activeElement)) continue
      held.delete(card)
      card.style.minHeight = ''
      if (!$('[data-keep]', card)) $('details.ended', card).open = false
    }
  }

  // ---- Forms ----

  const trouble = {
    unreachable: 'Could not reach Sayso. Nothing was recorded. Try again.',
    slow: 'No reply from Sayso within 30 s. If your answer was recorded, this card will say so; trying again counts once.',
    over: 'Your session has ended. Nothing was recorded.',
  }

  function unanswered(form) {
    const missing = $$('[data-question]', form).filter((question) => {
      const chosen = $('input:checked', question)
      const words = $('input[type=checkbox]', question) ? 'Choose at least one option.' : 'Choose an option.'
      setText($('[data-problem]', question), chosen ? '' : words)
      return !chosen
    })
    missing[0]?.querySelector('input')?.focus()
    return missing.length > 0
  }

  const showError = (card, words) => setText($('[data-error]', card), words)

  function setBusy(card, busy) {
    card.ariaBusy = String(busy)
    for (const button of $$('form .btn', card)) button.ariaDisabled = busy ? 'true' : null
    look()
  }

  on('submit', (event) => {
    event.preventDefault()
    const card = cardOf(event.target)
    if (!card || card.ariaBusy === 'true' || unanswered(event.target)) return
    if (event.submitter?.matches('[data-allow]') && !mayAllow(card)) return
    send(card, event.target)
  })

  // bodyOf is the form as the dashboard would post it: text of an option that is not chosen is no part of the answer.
  function bodyOf(form) {
    const body = new URLSearchParams(new FormData(form))
    for (const field of $$('[data-question] .option-details input', form)) {
      if (!$('.allows-text:checked', field.closest('[data-question]'))) body.delete(field.name)
    }
    return body
  }

  async function send(card, form) {
    showError(card, '')
    const body = bodyOf(form)
    setBusy(card, true)
    try {
      answered(card, await ask(`/interactions/${idOf(card)}/resolve`, { method: 'POST', body }))
    } catch (error) {
      setBusy(card, false)
      showError(card, error.name === 'TimeoutError' ? trouble.slow : trouble.unreachable)
      reconcile()
    }
  }

  async function answered(card, response) {
    const text = await response.text().catch(() => '')
    setBusy(card, false)
    renewBefore(response)
    if ((response.status === 200 || response.status === 422) && text.includes(`id="${card.id}"`)) return apply(text, card.id)
    if (response.status === 401) {
      showError(card, trouble.over)
      return over()
    }
    let why = ''
    try {
      why = JSON.parse(text).error
    } catch {}
    showError(card, (response.status < 500 && why) || trouble.unreachable)
    if (response.status === 403) reconcile()
  }

  on('change', (event) => {
    const question = event.target.closest?.('[data-question]')
    if (question) setText($('[data-problem]', question), '')
  })

  on('click', (event) => {
    const reveal = event.target.closest?.('.reveal-reason > summary')?.parentElement
    if (!reveal || reveal.open) return
    event.preventDefault()
    reveal.open = true
    $('input', reveal.nextElementSibling).focus()
  })

  on('keydown', (event) => {
    if (event.key === 'Enter' && (event.isComposing || event.keyCode === 229) && event.target.matches('input')) event.preventDefault()
  }, true)

  // ---- Arming ----
  // The page around us may lay things over the frame, move it under a finger, or shrink it to a button. So Allow works only when its button and
  // the end of what it allows have been in view, and have not moved, for a while, and when the pointer has been in the frame, or the frame has
  // had the focus, as long. Deny always works.

  const armAfter = 700 // milliseconds
  const touchLasts = 30000 // milliseconds that a touch counts for being here
  const tracks = 'isVisible' in (window.IntersectionObserverEntry?.prototype ?? {}) // the browser can tell what is covered
  const inView = new WeakMap() // element → whether it can really be seen
  const states = new WeakMap() // card → { since, x, y }
  let pointerSince = Infinity, focusSince = document.hasFocus() ? performance.now() : Infinity
  let touchSince = Infinity, touched = -Infinity // a finger is nowhere between two touches, and does not always bring the focus along

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, intersectionRatio, isVisible } of entries) inView.set(target, intersectionRatio > 0.99 && (!tracks || isVisible))
      look()
    },
    { threshold: [0, 0.5, 0.99, 1], ...(tracks && { trackVisibility: true, delay: 100 }) },
  )

  const parts = (card) => $$('[data-allow], [data-end]', card)

  function watchAll() {
    for (const card of openCards()) {
      if (states.has(card)) continue
      states.set(card, { since: Infinity })
      for (const part of parts(card)) observer.observe(part)
    }
    look()
  }

  // measure says since when a card has been in view without moving: Infinity if it is not.
  function measure(card) {
    const state = states.get(card)
    const seen = parts(card).every((part) => inView.get(part))
    const { x, y } = $('[data-allow]', card).getBoundingClientRect()
    const still = Math.abs(x - state.x) < 2 && Math.abs(y - state.y) < 2
    Object.assign(state, { x, y })
    if (!seen || !still) state.since = seen ? performance.now() : Infinity
    else state.since = Math.min(state.since, performance.now())
    return state.since
  }

  const longAgo = (since) => performance.now() - since >= armAfter

  function look() {
    if (performance.now() - touched > touchLasts) touchSince = Infinity
    for (const card of openCards()) {
      const allow = $('[data-allow]', card)
      if (!allow || !states.has(card)) continue
      const armed = longAgo(measure(card)) && longAgo(Math.min(pointerSince, focusSince, touchSince))
      allow.ariaDisabled = armed && card.ariaBusy !== 'true' ? null : 'true'
      allow.dataset.armed = String(armed)
      const end = $('[data-end]', card)
      setText($('[data-arming]', card), armed ? '' : end && !inView.get(end) ? 'Scroll to the end of the request to allow it.' : 'Allow works once all of this has been in view for a moment.')
    }
  }

  // mayAllow is asked at the press itself. One with a mouse counts only where the mouse has been for a while, whatever has the focus.
  let pressed = 'key'
  function mayAllow(card) {
    look()
    const armed = $('[data-allow]', card).dataset.armed === 'true'
    return armed && (pressed !== 'mouse' || longAgo(pointerSince))
  }

  function restart() {
    if (Number.isFinite(pointerSince)) pointerSince = performance.now()
    for (const card of openCards()) if (states.has(card)) states.get(card).since = Infinity
    look()
  }

  // The frame was moved when the pointer stands still on the screen and not in the frame.
  let last
  function moved({ screenX, screenY, clientX, clientY, pointerType }) {
    if (pointerType === 'touch') {
      touched = performance.now()
      touchSince = Math.min(touchSince, touched)
      return
    }
    if (last && last.screenX === screenX && last.screenY === screenY && (last.clientX !== clientX || last.clientY !== clientY)) restart()
    last = { screenX, screenY, clientX, clientY }
    pointerSince = Math.min(pointerSince, performance.now())
  }

  for (const type of ['pointermove', 'pointerdown']) on(type, moved, { passive: true, capture: true })
  on('pointerdown', ({ pointerType }) => (pressed = pointerType === 'touch' ? 'touch' : 'mouse'), { passive: true, capture: true })
  on('keydown', () => (pressed = 'key'), { passive: true, capture: true })
  root.addEventListener('pointerenter', (event) => event.pointerType !== 'touch' && (pointerSince = performance.now()))
  root.addEventListener('pointerleave', () => {
    pointerSince = Infinity
    last = undefined
    look()
  })
  addEventListener('focus', () => {
    focusSince = performance.now()
    look()
  })
  addEventListener('blur', () => {
    focusSince = Infinity
    look()
  })
  addEventListener('scroll', look, { passive: true, capture: true })

  // ---- Live ----

  let socket, socketTimer, failures = 0, etag = '', asking = false, askAgain = false

  async function reconcile() {
    if (!session) return
    if (asking) return void (askAgain = true)
    asking = true
    do {
      askAgain = false
      await askForCards().catch(() => shown === 'connecting' && show('unreachable'))
    } while (askAgain && session)
    asking = false
  }

  async function askForCards() {
    const have = $$('article[data-version]:not([data-final])', cards).map(idOf).slice(0, 150)
    const response = await ask(`/cards${have.length ? `?have=${have.join(',')}` : ''}`, { headers: { 'If-None-Match': etag } })
    if (response.status === 401) return over()
    if (response.status === 403 || response.status === 404) return end('disabled')
    renewBefore(response)
    if (response.status !== 200) return response.status === 304 && counted()
    apply(await response.text())
    etag = response.headers.get('ETag') ?? ''
  }

  // over is the end of a session. The app is asked to renew it, unless it has just begun: then that would go round in circles.
  function over() {
    end('expired')
    if (port && performance.now() - began > 60000) needToken()
  }

  function connectSocket() {
    clearTimeout(socketTimer)
    if (!session) return
    const url = new URL(`${here}/live`)
    url.protocol = url.protocol.replace('http', 'ws')
    const mine = (socket = new WebSocket(url))
    mine.onopen = () => mine.send(session)
    mine.onmessage = ({ data }) => {
      failures = 0
      if (data) apply(data)
      else reconcile() // we are known, and miss nothing from here on
    }
    mine.onclose = ({ code }) => {
      if (mine !== socket || !session) return
      if (code === 1008) reconcile() // which says what became of the session
      failures++
      socketTimer = setTimeout(connectSocket, (code === 1012 ? 200 : Math.min(30000, 500 * 2 ** failures)) * (0.5 + Math.random()))
    }
  }

  // ---- Start ----

  root.classList.add('js')
  addEventListener('message', connect)
  new ResizeObserver(resized).observe(document.body)
  setInterval(look, 100)
  setInterval(() => {
    tick()
    settle()
  }, 1000)
  let beat = 0
  setInterval(() => (socket?.readyState !== WebSocket.OPEN || ++beat % 3 === 0) && reconcile(), 10000)
  on('visibilitychange', () => document.visibilityState === 'visible' && reconcile())

  // A page that does without the loader puts the token behind a #, where no server sees it, and it does not stay there.
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (location.hash) history.replaceState(null, '', location.pathname)
  if (given) begin(given)
  if (framed) window.parent.postMessage({ sayso: 'hello' }, '*') // there is nothing in it
  if (!given) setTimeout(() => !port && !session && show(framed ? 'unreachable' : 'alone'), framed ? 10000 : 0)
})()

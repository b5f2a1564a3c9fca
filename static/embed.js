// Shows the cards of Sayso in a page of another app: a frame, and the little that must pass between the two.
//
//   <script src="https://sayso.example.com/embed.js"></script>
//
//   Sayso.mount(element, { embedId, getToken, theme, onEvent })   puts a frame into element
//   <sayso-cards embed-id="emb_…" theme="auto">                  does the same; set its property getToken, listen to its event "sayso"
//
// getToken is called whenever the frame needs a token, and gives one, or a promise of one: ask the app's own back end. onEvent gets what the
// frame tells: {type: "ready" | "resize" | "count" | "resolved" | "token_needed" | "error", …}.
//
// The frame and this script find each other by one message each way. Both look at where the other's comes from, and from then on speak over a
// channel that nobody else has.
'use strict'
;(() => {
  if (window.Sayso?.mount) return
  const own = document.currentScript?.src
  const base = new URL('.', own || location).href.replace(/\/$/, '') // where Sayso is, with its base path
  const origin = new URL(base).origin
  const themes = ['light', 'dark', 'auto']
  const patience = 4000 // milliseconds that a frame has, once it is loaded, to say that it is there

  function makeFrame(embedId, title) {
    const frame = document.createElement('iframe')
    frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox')
    frame.referrerPolicy = 'no-referrer'
    frame.title = title
    Object.assign(frame.style, { display: 'block', width: '100%', height: '8rem', border: '0', colorScheme: 'normal' })
    frame.src = `${base}/embed/${encodeURIComponent(embedId)}`
    return frame
  }

  // fallback stands in for a frame that its browser does not show: Sayso may not be framed here, or is not there.
  function fallback() {
    const words = document.createElement('p')
    const link = Object.assign(document.createElement('a'), { href: `${base}/`, target: '_blank', rel: 'noopener noreferrer', textContent: 'Open in Sayso' })
    words.append('Requests cannot be shown on this page. ', link)
    words.dataset.sayso = 'fallback'
    return words
  }

  function mount(element, { embedId, getToken, theme = 'auto', onEvent = () => {}, title = 'Requests' }) {
    if (!element?.append) throw new TypeError('Sayso.mount: the first argument is the element to put the frame into')
    if (!embedId) throw new TypeError('Sayso.mount: embedId is missing')
    let frame = makeFrame(embedId, title)
    let port, timer, stand

    const send = (message) => port?.postMessage(message)
    const tell = (message) => {
      try {
        onEvent(message)
      } catch (error) {
        reportError(error) // an app's mistake must not stop its frame
      }
    }
    const setTheme = (mode) => {
      theme = themes.includes(mode) ? mode : 'auto'
      send({ type: 'theme', mode: theme })
    }

    async function giveToken() {
      try {
        const token = await getToken()
        if (typeof token !== 'string' || !token) throw new TypeError('getToken gave no token')
        send({ type: 'token', token })
      } catch (error) {
        send({ type: 'token' }) // the frame says that it cannot be loaded, and may be asked to try again
        tell({ type: 'error', code: 'no_token', error })
      }
    }

    const heard = {
      ready: ({ open }) => ({ open }),
      resize: ({ height }) => {
        frame.style.height = `${Math.min(Math.max(Number(height) || 0, 40), 20000)}px`
        return { height }
      },
      count: ({ open }) => ({ open }),
      resolved: ({ interaction_id, outcome }) => ({ interaction_id, outcome }),
      token_needed: () => void giveToken(),
      error: ({ code }) => ({ code }),
    }

    function hear({ data }) {
      if (!Object.hasOwn(heard, data?.type)) return
      tell({ type: data.type, ...heard[data.type](data) })
    }

    function connect(event) {
      if (event.source !== frame?.contentWindow || event.origin !== origin || event.data?.sayso !== 'hello') return
      clearTimeout(timer)
      port?.close()
      const channel = new MessageChannel()
      port = channel.port1
      port.onmessage = hear
      frame.contentWindow.postMessage({ sayso: 'connect' }, origin, [channel.port2])
      setTheme(theme)
    }

    function giveUp() {
      if (port || stand) return
      stand = fallback()
      frame.replaceWith(stand)
      tell({ type: 'error', code: 'not_shown' })
    }

    frame.addEventListener('load', () => {
      clearTimeout(timer)
      timer = setTimeout(giveUp, patience)
    })
    addEventListener('message', connect)
    element.append(frame)

    return {
      setTheme,
      focus: () => send({ type: 'focus' }),
      unmount() {
        removeEventListener('message', connect)
        clearTimeout(timer)
        port?.close()
        ;(stand ?? frame).remove()
        frame = null
      },
    }
  }

  class SaysoCards extends HTMLElement {
    static observedAttributes = ['theme']
    #mounted

    connectedCallback() {
      this.style.display ||= 'block'
      queueMicrotask(() => this.#mount()) // whoever made it has set getToken by then
    }

    #mount() {
      if (!this.isConnected || this.#mounted) return
      this.#mounted = mount(this, {
        embedId: this.getAttribute('embed-id'),
        theme: this.getAttribute('theme') ?? 'auto',
        getToken: () => this.getToken(),
        onEvent: (detail) => this.dispatchEvent(new CustomEvent('sayso', { detail })),
      })
    }

    disconnectedCallback() {
      this.#mounted?.unmount()
      this.#mounted = undefined
    }

    attributeChangedCallback(name, before, mode) {
      this.#mounted?.setTheme(mode)
    }

    focusCards() {
      this.#mounted?.focus()
    }
  }

  window.Sayso = Object.freeze({ mount })
  if (!customElements.get('sayso-cards')) customElements.define('sayso-cards', SaysoCards)
})()

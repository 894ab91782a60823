// The editor of templates, beyond its form: what is typed is checked and shown after a pause, fields and JSON of the test data follow each other, and
// the HTML has colours and line numbers. The page works without it.
;(() => {
  const form = document.querySelector('form[data-checks]')
  const code = form?.elements.html
  if (!code) return
  const json = form.elements.testData
  const hue = document.createElement('pre')
  hue.className = 'hue'
  const lines = document.createElement('pre')
  lines.className = 'lines'

  // Fields of names write into the JSON, which is what is saved. Numbers and switches stay such, as on the server.
  function write(path, text) {
    let data
    try {
      data = json.value.trim() === '' ? {} : JSON.parse(json.value)
    } catch {
      return
    }
    if (typeof data !== 'object' || data === null || Array.isArray(data)) return
    let at = data
    for (const part of path.slice(0, -1)) {
      if (part === '__proto__') return
      const next = Object.hasOwn(at, part) ? at[part] : {}
      if (typeof next !== 'object' || next === null || Array.isArray(next)) return
      at[part] = next
      at = next
    }
    const last = path.at(-1)
    if (last === '__proto__') return
    const before = Object.hasOwn(at, last) ? at[last] : undefined
    if (typeof before === 'number' && text !== '' && String(Number(text)) === text) at[last] = Number(text)
    else if (typeof before === 'boolean' && /^(true|false)$/.test(text)) at[last] = text === 'true'
    else at[last] = text
    json.value = JSON.stringify(data, null, 2)
  }

  // What the server says about the texts as they are typed: each part of its answer takes the place of the one with its id.
  let pause
  let asked = 0
  async function check() {
    const number = ++asked
    try {
      const answer = await fetch(form.dataset.checks, { method: 'POST', body: new URLSearchParams(new FormData(form)) })
      if (!answer.ok || number !== asked) return
      const { body } = new DOMParser().parseFromString(await answer.text(), 'text/html')
      for (const part of [...body.children]) {
        const now = document.getElementById(part.id)
        // Nothing is taken from under somebody who types.
        if (now && !now.contains(document.activeElement) && now.outerHTML !== part.outerHTML) now.replaceWith(part)
      }
      markLines()
    } catch {
      // The next change asks again.
    }
  }
  form.addEventListener('input', ({ target }) => {
    if (target.name?.startsWith('value.')) {
      const name = target.name.slice('value.'.length)
      write(form.dataset.kind === 'merge' ? [name] : name.split('.'), target.value.trim())
    }
    clearTimeout(pause)
    pause = setTimeout(check, 400)
  })
  if (form.dataset.unsaved === 'typed') form.querySelector('[data-previews]')?.click()

  // A problem leads to its place.
  form.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[data-line]')
    const field = link && document.querySelector(link.getAttribute('href'))
    if (!field) return
    event.preventDefault()
    const lines = field.value.split('\n')
    const line = Math.min(Number(link.dataset.line), lines.length)
    const at =
      lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0) + Number(link.dataset.column) - 1
    field.closest('details')?.setAttribute('open', '')
    field.focus()
    field.setSelectionRange(at, at + 1)
    if (field.localName === 'textarea')
      field.scrollTop = Math.max(0, line - 4) * Number.parseFloat(getComputedStyle(field).lineHeight)
  })

  // Colours and line numbers, unless the system chooses the colours or the text is long.
  const MAX_COLOURED = 100_000
  if (matchMedia('(forced-colors: active)').matches) return
  for (const layer of [hue, lines]) layer.setAttribute('aria-hidden', 'true')

  const VALUE = /\{\{!--[\s\S]*?(?:--\}\}|$)|\{\{\{?[^{}]*\}?\}\}|\[%[\w.-]{1,100}%\]/g
  const OUTSIDE =
    /<!--[\s\S]*?(?:-->|$)|\{\{!--[\s\S]*?(?:--\}\}|$)|\{\{\{?[^{}]*\}?\}\}|\[%[\w.-]{1,100}%\]|<\/?[a-z][^\s/>{"'<]*/gi
  const INSIDE = /"[^"]*(?:"|$)|'[^']*(?:'|$)|\{\{\{?[^{}]*\}?\}\}|\[%[\w.-]{1,100}%\]|\/?>/g

  /** Returns the text in pieces, each with the element that colours it: comments u, values em, tags b, texts of attributes i. */
  function pieces(text) {
    const found = []
    let at = 0
    let isInside = false
    const add = (end, name) => {
      if (end > at) found.push([name, text.slice(at, end)])
      at = end
    }
    while (at < text.length) {
      const pattern = isInside ? INSIDE : OUTSIDE
      pattern.lastIndex = at
      const match = pattern.exec(text)
      if (!match) break
      add(match.index)
      const [token] = match
      const end = match.index + token.length
      if (/^["']/.test(token)) {
        for (const { 0: value, index } of token.matchAll(VALUE)) {
          add(match.index + index, 'i')
          add(match.index + index + value.length, 'em')
        }
        add(end, 'i')
      } else if (/^(\{\{|\[%)/.test(token)) add(end, token.startsWith('{{!--') ? 'u' : 'em')
      else if (token.startsWith('<!--')) add(end, 'u')
      else {
        add(end, 'b')
        isInside = token.startsWith('<')
      }
    }
    add(text.length)
    return found
  }

  function paint() {
    if (code.value.length > MAX_COLOURED) {
      hue.remove()
      lines.remove()
      return
    }
    const nodes = pieces(code.value).map(([name, text]) => {
      if (!name) return text
      const node = document.createElement(name)
      node.textContent = text
      return node
    })
    hue.replaceChildren(...nodes, '\n')
    if (!hue.isConnected) code.before(hue, lines)
    markLines()
    follow()
  }

  /** Numbers the lines; those with a problem stand out. */
  function markLines() {
    if (!lines.isConnected) return
    const wrong = new Set(
      [...document.querySelectorAll('#hints a[href="#f-html"]')].map(({ dataset }) => Number(dataset.line)),
    )
    const count = code.value.split('\n').length
    const nodes = Array.from({ length: count }, (_, index) => {
      if (!wrong.has(index + 1)) return `${index + 1}\n`
      const node = document.createElement('b')
      node.textContent = `${index + 1}\n`
      return node
    })
    lines.replaceChildren(...nodes)
  }

  function follow() {
    hue.scrollTop = lines.scrollTop = code.scrollTop
    hue.scrollLeft = code.scrollLeft
  }
  code.addEventListener('input', paint)
  code.addEventListener('scroll', follow, { passive: true })
  paint()
})()

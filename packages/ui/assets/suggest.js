// Suggestions for the part of a search that is being written: a list below the field (ARIA combobox). Without it, the field is an ordinary one.
;(() => {
  let field
  let box
  let options = []
  let at = -1
  let asked = 0
  let pause

  document.addEventListener('input', (event) => {
    if (!event.target.matches?.('[data-suggests]')) return
    begin(event.target)
    clearTimeout(pause)
    pause = setTimeout(ask, 120)
  })
  document.addEventListener('focusout', (event) => {
    if (event.target === field) close()
  })
  document.addEventListener('keydown', (event) => {
    if (event.target !== field || !box || box.hidden) return
    const { key } = event
    if (key === 'ArrowDown' || key === 'ArrowUp') select(at + (key === 'ArrowDown' ? 1 : -1))
    else if ((key === 'Enter' || key === 'Tab') && at >= 0) take(at)
    else if (key === 'Escape') close()
    else return
    event.preventDefault()
  })

  function begin(input) {
    if (field === input && box?.isConnected) return
    field = input
    box = document.createElement('ul')
    box.className = 'suggest'
    box.id = 'suggest'
    box.hidden = true
    box.setAttribute('role', 'listbox')
    box.setAttribute('aria-label', field.dataset.list)
    // Not a click: the field would lose the focus before it.
    box.addEventListener('pointerdown', (event) => {
      const option = event.target.closest('[role=option]')
      event.preventDefault()
      if (option) take([...box.children].indexOf(option))
    })
    field.after(box)
    for (const [name, value] of [
      ['role', 'combobox'],
      ['aria-autocomplete', 'list'],
      ['aria-controls', 'suggest'],
      ['aria-expanded', 'false'],
    ])
      field.setAttribute(name, value)
  }

  /** The part before the cursor, back to a blank that is in no quotes. */
  function part() {
    const end = field.selectionStart ?? field.value.length
    const before = field.value.slice(0, end)
    let start = 0
    let isQuoted = false
    for (let index = 0; index < before.length; index++) {
      if (before[index] === '"') isQuoted = !isQuoted
      else if (/\s/.test(before[index]) && !isQuoted) start = index + 1
    }
    return { start, end, text: before.slice(start) }
  }

  async function ask() {
    const number = ++asked
    const { text } = part()
    if (text === '' && field.value !== '') return close()
    try {
      const answer = await fetch(`${field.dataset.suggests}?part=${encodeURIComponent(text)}`)
      if (!answer.ok || number !== asked || document.activeElement !== field) return
      show(await answer.json())
    } catch {
      close()
    }
  }

  function show(found) {
    options = found
    at = -1
    box.replaceChildren(
      ...found.map(([text, what], index) => {
        const option = document.createElement('li')
        option.id = `suggest-${index}`
        option.setAttribute('role', 'option')
        option.setAttribute('aria-selected', 'false')
        const code = document.createElement('code')
        code.textContent = text
        const said = document.createElement('span')
        said.textContent = what
        option.append(code, said)
        return option
      }),
    )
    box.hidden = found.length === 0
    field.setAttribute('aria-expanded', String(!box.hidden))
    field.removeAttribute('aria-activedescendant')
  }

  function select(index) {
    at = index < -1 ? options.length - 1 : index >= options.length ? -1 : index
    for (const [number, option] of [...box.children].entries())
      option.setAttribute('aria-selected', String(number === at))
    if (at >= 0) field.setAttribute('aria-activedescendant', `suggest-${at}`)
    else field.removeAttribute('aria-activedescendant')
  }

  /** A key is followed by its value, anything else by the next part. */
  function take(index) {
    const [text] = options[index]
    const { start, end } = part()
    const isKey = text.endsWith(':')
    field.setRangeText(isKey ? text : `${text} `, start, end, 'end')
    field.focus()
    if (isKey) ask()
    else close()
  }

  function close() {
    asked++
    clearTimeout(pause)
    if (!box) return
    box.hidden = true
    at = -1
    field.setAttribute('aria-expanded', 'false')
    field.removeAttribute('aria-activedescendant')
  }
})()

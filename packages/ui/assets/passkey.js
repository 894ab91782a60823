// Passkeys: a form with data-passkey asks the browser for one, and is sent with the answer. Without script, such forms stay hidden.
;(() => {
  const { PublicKeyCredential: type } = window
  // Undefined in browsers before 2025, and where there is no https.
  const works = type?.parseRequestOptionsFromJSON && type.parseCreationOptionsFromJSON
  for (const form of document.querySelectorAll('form[data-passkey]')) {
    const { passkey, options, from, origin, failed } = form.dataset
    if (!works || location.origin !== origin) continue
    form.hidden = false
    for (const other of document.querySelectorAll('[data-no-passkey]')) other.hidden = true
    const problem = form.querySelector('[role=alert]')
    const button = form.querySelector('button')
    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      problem.hidden = true
      button.disabled = true
      try {
        const json = options ? JSON.parse(options) : await (await fetch(from)).json()
        const credential =
          passkey === 'create'
            ? await navigator.credentials.create({ publicKey: type.parseCreationOptionsFromJSON(json) })
            : await navigator.credentials.get({ publicKey: type.parseRequestOptionsFromJSON(json) })
        form.querySelector('[data-answer]').value = JSON.stringify(credential)
        form.submit()
      } catch {
        problem.textContent = failed
        problem.hidden = false
        button.disabled = false
      }
    })
  }
  // A page that the back button brings back asks again.
  addEventListener('pageshow', (event) => {
    if (event.persisted)
      for (const button of document.querySelectorAll('form[data-passkey] button')) button.disabled = false
  })
})()

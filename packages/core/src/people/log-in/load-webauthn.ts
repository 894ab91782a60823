/**
 * Loads the WebAuthn library when a passkey is first used. It has 300 modules, which would be a third of those that every process of the
 * service and every command loads: 100 ms of processor time.
 */
export function loadWebAuthn(): Promise<typeof import('@simplewebauthn/server')> {
  return import('@simplewebauthn/server')
}

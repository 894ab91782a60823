import type { Wall } from './entry.ts'

const mail = {
  personalizations: [{ recipient: 'lena@harbor.example' }],
  subject: 'Berth 4',
  content: '<p>Your berth is ready.</p>',
}

export const sendEmail: Wall = {
  sendEmail: {
    kind: 'object',
    make: async (_, owner) => ({ ...mail, from: { fromEmail: `desk@${owner.domain}` } }),
    repeated: /[\w-]+\.example/g,
    missing: { from: { fromEmail: 'desk@nobody.example' } },
    seen: () => ['listEvents', { startdate: '2026-01-01' }],
  },
  checkEmail: {
    kind: 'object',
    make: async (_, owner) => ({ ...mail, from: { fromEmail: `desk@${owner.domain}` } }),
    repeated: /[\w-]+\.example/g,
    missing: { from: { fromEmail: 'desk@nobody.example' } },
    seen: () => ['listEvents', { startdate: '2026-01-01' }],
  },
  sendRaw: {
    kind: 'object',
    make: async (_, owner) => ({ raw: rawFrom(owner.domain), to: ['lena@harbor.example'] }),
    repeated: /[\w-]+\.example/g,
    missing: { raw: rawFrom('nobody.example') },
    seen: () => ['listEvents', { startdate: '2026-01-01' }],
  },
  sendBatch: {
    kind: 'object',
    make: async (_, owner) => ({ messages: [{ ...mail, from: { fromEmail: `desk@${owner.domain}` } }] }),
    repeated: /[\w-]+\.example/g,
    missing: { messages: [{ ...mail, from: { fromEmail: 'desk@nobody.example' } }] },
    seen: () => ['listEvents', { startdate: '2026-01-01' }],
  },
}

function rawFrom(domain: string): string {
  return Buffer.from(`From: desk@${domain}\r\nSubject: Berth 4\r\n\r\nYour berth is ready.\r\n`).toString('base64')
}

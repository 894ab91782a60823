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
}

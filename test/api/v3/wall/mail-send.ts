import type { Wall } from './entry.ts'

const mail = {
  personalizations: [{ to: [{ email: 'lena@harbor.example' }] }],
  subject: 'Berth 4',
  content: [{ type: 'text/plain', value: 'Ready.' }],
}

export const mailSend: Wall = {
  sendMail: {
    kind: 'object',
    make: async (_, { domain }) => ({ body: { ...mail, from: { email: `desk@${domain}` } } }),
    repeated: /[\w-]+\.example/g,
    missing: { body: { ...mail, from: { email: 'desk@nobody.example' } } },
    seen: () => ['listCategories', {}],
  },
}

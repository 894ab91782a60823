import type { Wall } from './entry.ts'

export const mailSend: Wall = {
  sendMail: {
    kind: 'own',
    input: ({ domain }) => ({
      body: {
        personalizations: [{ to: [{ email: 'lena@harbor.example' }] }],
        from: { email: `desk@${domain}` },
        subject: 'Berth 4',
        content: [{ type: 'text/plain', value: 'Ready.' }],
      },
    }),
    seen: ['listScopes', {}],
  },
}

/** `-o` of the commands that print sentences. */
export const textOutputFlag = {
  type: 'string',
  short: 'o',
  value: 'format',
  summary: 'output format',
  choices: ['text', 'json', 'yaml'],
  default: 'text',
  perCall: true,
} as const;

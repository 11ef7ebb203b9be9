import { defineCommand } from '@slipway/kube/command';

import { decryptCommand } from './decrypt.ts';
import { editCommand } from './edit.ts';
import { encryptCommand } from './encrypt.ts';
import { keygenCommand } from './keygen.ts';
import { rotateCommand } from './rotate.ts';

/** `slipway sops`. */
export const command = defineCommand({
  subcommands: {
    encrypt: { summary: 'encrypt a plain file', command: encryptCommand },
    decrypt: { summary: 'decrypt a file and check its MAC', command: decryptCommand },
    edit: { summary: 'edit an encrypted file; what does not change keeps its bytes', command: editCommand },
    rotate: { summary: 'encrypt a file anew under a new data key', command: rotateCommand },
    keygen: { summary: 'make an age key', command: keygenCommand },
  },
  knownElsewhere: {
    '-d': 'use slipway sops decrypt FILE',
    '--decrypt': 'use slipway sops decrypt FILE',
    '-e': 'use slipway sops encrypt FILE',
    '--encrypt': 'use slipway sops encrypt FILE',
    '-r': 'use slipway sops rotate FILE',
    '--rotate': 'use slipway sops rotate FILE',
  },
  examples: [{ line: 'slipway sops edit env/secrets.yaml' }],
});

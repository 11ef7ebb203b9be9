import { defineCommand } from '@slipway/kube/command';

import { decryptCommand } from './decrypt.ts';
import { editCommand } from './edit.ts';
import { encryptCommand } from './encrypt.ts';
import { keygenCommand } from './keygen.ts';
import { fileStatusCommand } from './file-status.ts';
import { rotateCommand } from './rotate.ts';
import { setCommand } from './set.ts';
import { unsetCommand } from './unset.ts';
import { updateKeysCommand } from './update-keys.ts';

/** `slipway sops`. */
export const command = defineCommand({
  subcommands: {
    encrypt: { summary: 'encrypt a plain file', command: encryptCommand },
    decrypt: { summary: 'decrypt a file and check its MAC', command: decryptCommand },
    edit: { summary: 'edit an encrypted file; what does not change keeps its bytes', command: editCommand },
    rotate: { summary: 'encrypt a file anew under a new data key', command: rotateCommand },
    set: { summary: 'put one value into an encrypted file', command: setCommand },
    unset: { summary: 'take one value out of an encrypted file', command: unsetCommand },
    updatekeys: { summary: 'give the data key to the recipients of .sops.yaml', command: updateKeysCommand },
    filestatus: { summary: 'say whether a file is encrypted', command: fileStatusCommand },
    keygen: { summary: 'make an age key', command: keygenCommand },
  },
  knownElsewhere: {
    '-d': 'use slipway sops decrypt FILE',
    '--decrypt': 'use slipway sops decrypt FILE',
    '-e': 'use slipway sops encrypt FILE',
    '--encrypt': 'use slipway sops encrypt FILE',
    '-r': 'use slipway sops rotate FILE',
    '--rotate': 'use slipway sops rotate FILE',
    '--set': 'use slipway sops set FILE PATH VALUE',
    'exec-env': 'no program is run: slipway sops decrypt --output-type dotenv prints what a shell can read',
    'exec-file': 'no program is run: slipway sops decrypt prints the file, and --output writes it',
    publish: 'slipway sops decrypt prints the file: send that',
    groups: 'only age keys can be used: rotate --add-age and --rm-age, or updatekeys',
    keyservice: 'only age keys can be used, and those are read here',
  },
  examples: [{ line: 'slipway sops edit env/secrets.yaml' }],
});

import { join } from 'node:path';

import { OperatorError } from '../operator-error.ts';
import type { Platform } from '../platform/platform.ts';
import { valueAt } from '../values/tree.ts';
import { writeWhole } from '../values/write-file.ts';
import { yamlFile } from '../values/yaml-file.ts';

/** Says in `.sops.yaml` for whom secrets are encrypted, and takes the key that opens them. */
export async function bootstrapSops(platform: Platform): Promise<void> {
  const { layers, directory, keys, log } = platform;
  const sops = valueAt(await layers.values('files'), ['kms', 'sops']);
  const provider = valueAt(sops, ['provider']);
  if (provider === undefined) {
    log.warn('no kms.sops.provider: secrets stay in clear text in Git');
    return;
  }
  if (provider !== 'age')
    throw new OperatorError(
      'UnsupportedProvider',
      `kms.sops.provider: '${String(provider)}' is not supported; use age`,
    );
  const identity = valueAt(sops, ['age', 'privateKey']);
  if (typeof identity === 'string' && identity !== '' && !identity.startsWith('ENC')) keys.add(identity);
  const rule = { path_regex: '^(.*/)?secrets.*.yaml(\\.dec)?$', age: String(valueAt(sops, ['age', 'publicKey'])) };
  await writeWhole(join(directory, '.sops.yaml'), yamlFile({ creation_rules: [rule] }));
  await writeWhole(join(directory, '.gitattributes'), 'secrets.*.yaml diff=sopsdiffer\n');
}

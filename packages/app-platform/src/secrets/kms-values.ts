import { generateAgeKey } from '@slipway/sops';

import { isTree, type Tree, valueAt } from '../values/tree.ts';

/** How secrets are encrypted at rest. With the provider `age` and no keys, it makes a pair. */
export async function getKmsValues(input: Tree): Promise<Tree> {
  const { kms } = input;
  const provider = valueAt(kms, ['sops', 'provider']);
  if (!isTree(kms) || provider === undefined) return {};
  const { publicKey, privateKey } = (valueAt(kms, ['sops', 'age']) ?? {}) as Tree;
  if (provider !== 'age' || (publicKey && privateKey)) return { kms };
  const { identity, recipient } = await generateAgeKey();
  return { kms: { sops: { provider: 'age', age: { publicKey: recipient, privateKey: identity } } } };
}

import type { ServiceAccountTokens } from '../auth/service-account-tokens.ts';
import { ApiError } from '../api-error.ts';
import type { ControllerContext, RunningController } from './controller.ts';
import { objectKey, splitKey } from './informer.ts';
import { WorkQueue } from './work-queue.ts';

const SECRETS = { group: '', version: 'v1', plural: 'secrets' };
const TYPE = 'kubernetes.io/service-account-token';
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const ACCOUNT_UID = 'kubernetes.io/service-account.uid';
/** Tokens in Secrets do not expire; ten years is as good. */
const LIFETIME_SECONDS = 10 * 365 * 86_400;

/** Fills Secrets of type `kubernetes.io/service-account-token` with a token of the account they name, and removes them with it. */
export function startTokenSecrets(
  context: ControllerContext,
  tokens: ServiceAccountTokens,
  rootCa: string,
): RunningController {
  const { client, clock, informers, log } = context;
  const secrets = informers.of('', 'v1', 'secrets');
  const accounts = informers.of('', 'v1', 'serviceaccounts');

  const queue = new WorkQueue({
    name: 'token secrets',
    clock,
    log,
    async process(key) {
      await accounts.synced();
      const { namespace, name } = splitKey(key);
      const secret = secrets.get(namespace, name);
      const accountName = secret?.metadata.annotations?.[ACCOUNT_NAME];
      if (!secret || secret['type'] !== TYPE || !accountName || secret.metadata.deletionTimestamp !== undefined) {
        return;
      }
      const account = accounts.get(namespace, accountName);
      const wantedUid = secret.metadata.annotations?.[ACCOUNT_UID];
      const address = { ...SECRETS, namespace, name };
      if (!account || (wantedUid !== undefined && wantedUid !== account.metadata.uid)) {
        await client.delete(address, { preconditions: { uid: secret.metadata.uid! } }).catch(ignoreGone);
        return;
      }
      const data = (secret['data'] ?? {}) as Record<string, string>;
      if (data['token'] !== undefined && data['namespace'] !== undefined && wantedUid !== undefined) {
        return;
      }
      const { token } = await tokens.issue({
        serviceAccount: account,
        audiences: [tokens.issuer],
        expirationSeconds: LIFETIME_SECONDS,
        boundTo: { kind: 'Secret', name, uid: secret.metadata.uid! },
      });
      const encode = (text: string) => Buffer.from(text).toString('base64');
      await client.patch(address, 'merge', {
        metadata: {
          resourceVersion: secret.metadata.resourceVersion!,
          annotations: { [ACCOUNT_UID]: account.metadata.uid! },
        },
        data: {
          token: encode(token),
          namespace: encode(namespace!),
          ...(rootCa ? { 'ca.crt': encode(rootCa) } : {}),
        },
      });
    },
  });

  const unsubscribers = [
    secrets.subscribe(({ object, deleted }) => {
      if (!deleted && object['type'] === TYPE) {
        queue.add(objectKey(object));
      }
    }),
    accounts.subscribe(({ object }) => {
      for (const secret of secrets.list(object.metadata.namespace)) {
        const isConcerned = secret.metadata.annotations?.[ACCOUNT_NAME] === object.metadata.name;
        if (secret['type'] === TYPE && isConcerned) {
          queue.add(objectKey(secret));
        }
      }
    }),
  ];
  return {
    stop() {
      unsubscribers.forEach((unsubscribe) => unsubscribe());
      queue.stop();
    },
  };
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof ApiError && error.status.code === 404)) {
    throw error;
  }
}

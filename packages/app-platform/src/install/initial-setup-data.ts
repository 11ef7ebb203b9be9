import { names } from '../names.ts';
import type { Platform } from '../platform/platform.ts';
import { platformAdminEmail } from '../secrets/users.ts';
import { writeConfigMap, writeSecret } from '../state/records.ts';
import { isTree, type Tree, valueAt } from '../values/tree.ts';

/** Leaves the first login where an administrator finds it, and a word of welcome that says where. */
export async function initialSetupData({ client, layers }: Platform): Promise<void> {
  const values = await layers.values('all');
  const { username, password } = firstLogin(values);
  const secretName = names.adminCredentials;
  const secretNamespace = names.adminNamespace;
  await writeSecret(client, { namespace: secretNamespace, name: secretName }, { username, password });
  const consoleUrl = `https://console.${String(valueAt(values, ['cluster', 'domainSuffix']) ?? 'cluster.local')}`;
  const show = (key: string): string =>
    `kubectl get secret ${secretName} -n ${secretNamespace} -o jsonpath='{.data.${key}}' | base64 -d`;
  const message = [
    'The platform is installed.',
    '',
    `Console:  ${consoleUrl}`,
    `Username: ${show('username')}`,
    `Password: ${show('password')}`,
    '',
    'Next: sign in, change the password, and make a team.',
  ].join('\n');
  const welcome = { namespace: names.operatorNamespace, name: names.welcome };
  await writeConfigMap(client, welcome, { message, consoleUrl, secretName, secretNamespace });
}

function firstLogin(values: Tree): { username: string; password: string } {
  if (valueAt(values, ['otomi', 'hasExternalIDP']) === true) {
    return {
      username: String(valueAt(values, ['apps', 'keycloak', 'adminUsername']) ?? 'otomi-admin'),
      password: String(valueAt(values, ['otomi', 'adminPassword']) ?? ''),
    };
  }
  const username = platformAdminEmail(values);
  const users = Array.isArray(values['users']) ? values['users'].filter(isTree) : [];
  const admin = users.find((user) => user['email'] === username);
  return { username, password: String(admin?.['initialPassword'] ?? '') };
}

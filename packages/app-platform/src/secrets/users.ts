import { randomInt } from 'node:crypto';
import type { Random } from '@slipway/kube';

import { isTree, type Tree, valueAt } from '../values/tree.ts';

const passwordLength = 20;
const classes = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '!@#$%&*'];

/** The users of the platform: its administrator among them, each with a first password and a name for its file. */
export function getUsers(input: Tree, random: Random): Tree[] {
  const { users: given } = input;
  const users = Array.isArray(given) ? given.filter(isTree).map((user) => ({ ...user })) : [];
  if (valueAt(input, ['otomi', 'hasExternalIDP']) !== true) addPlatformAdmin(users, input);
  for (const user of users) {
    user['initialPassword'] ||= initialPassword();
    user['name'] ||= random.uuid();
  }
  return users;
}

export function platformAdminEmail(values: Tree): string {
  return `platform-admin@${String(valueAt(values, ['cluster', 'domainSuffix']) ?? 'cluster.local')}`;
}

function addPlatformAdmin(users: Tree[], input: Tree): void {
  const email = platformAdminEmail(input);
  if (users.some((user) => user['email'] === email)) return;
  users.push({
    email,
    firstName: 'platform',
    lastName: 'admin',
    isPlatformAdmin: true,
    isTeamAdmin: false,
    teams: [],
  });
}

/** From every class of characters at least one, in no order anybody could know. */
function initialPassword(): string {
  const all = classes.join('');
  const pick = (from: string): string => from[randomInt(from.length)]!;
  for (;;) {
    const password = Array.from({ length: passwordLength }, () => pick(all));
    if (classes.every((chars) => password.some((char) => chars.includes(char)))) return password.join('');
  }
}

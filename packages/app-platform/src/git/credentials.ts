/** Who we are to a Git server. */
export interface GitCredentials {
  readonly username: string;
  readonly password: string;
}

/** The `authorization` header of HTTP basic authentication. */
export function basicAuthorization({ username, password }: GitCredentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/**
 * Settings of a git process by environment alone: the header with the credentials is in no URL, argument, file or trace. It goes
 * only to the server of `url`, not to one that server redirects to.
 */
export function gitConfigEnvironment(
  settings: Readonly<Record<string, string>>,
  access?: { readonly url: string; readonly credentials: GitCredentials },
): Record<string, string> {
  const entries = Object.entries(settings);
  if (access && /^https?:/.test(access.url)) {
    const { origin } = new URL(access.url);
    entries.push([`http.${origin}/.extraHeader`, `Authorization: ${basicAuthorization(access.credentials)}`]);
  }
  const environment: Record<string, string> = { GIT_CONFIG_COUNT: String(entries.length) };
  for (const [index, [key, value]] of entries.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return environment;
}

/** `text` without the password, in whatever form it may have got there. */
export function withoutCredentials(text: string, credentials: GitCredentials | undefined): string {
  if (!credentials || credentials.password === '') return text;
  const { password } = credentials;
  const forms = [password, encodeURIComponent(password), basicAuthorization(credentials).slice('Basic '.length)];
  return forms.reduce((clean, form) => clean.replaceAll(form, '****'), text);
}

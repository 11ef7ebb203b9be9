/**
 * The rules for names, labels and the like. Each function answers Go's texts for what is wrong, and nothing when all is well.
 */

const dns1123Label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dns1123Subdomain = String.raw`[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*`;
const dns1035Label = '[a-z]([-a-z0-9]*[a-z0-9])?';
const labelKeyName = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const configKey = '[-._a-zA-Z0-9]+';
const envName = '[-._a-zA-Z][-._a-zA-Z0-9]*';

const labelPattern = new RegExp(`^${dns1123Label}$`);
const subdomainPattern = new RegExp(`^${dns1123Subdomain}$`);
const dns1035Pattern = new RegExp(`^${dns1035Label}$`);
const labelKeyPattern = new RegExp(`^${labelKeyName}$`);
const labelValuePattern = new RegExp(`^(${labelKeyName})?$`);
const configKeyPattern = new RegExp(`^${configKey}$`);
const wildcardPattern = new RegExp(String.raw`^\*\.${dns1123Subdomain}$`);

/** Go's sentence for "does not match": the examples are joined with the same odd commas. */
export function patternText(message: string, pattern: string, ...examples: string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`;
  const listed = examples.map((example) => `'${example}', `).join(' or ');
  return `${message} (e.g. ${listed}regex used for validation is '${pattern}')`;
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

export function maxLengthText(length: number): string {
  return `must be no more than ${length} characters`;
}

function maxBytesText(length: number): string {
  return `must be no more than ${length} bytes`;
}

export function rangeText(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

const subdomainText = patternText(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  dns1123Subdomain,
  'example.com',
);

/** Most object names. */
export function dnsSubdomain(value: string): string[] {
  const texts: string[] = [];
  if (byteLength(value) > 253) texts.push(maxLengthText(253));
  if (!subdomainPattern.test(value)) texts.push(subdomainText);
  return texts;
}

/** Namespaces, containers, volumes. */
export function dnsLabel(value: string): string[] {
  const texts: string[] = [];
  if (byteLength(value) > 63) texts.push(maxLengthText(63));
  if (!labelPattern.test(value)) {
    texts.push(
      subdomainPattern.test(value)
        ? 'must not contain dots'
        : patternText(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            dns1123Label,
            'my-name',
            '123-abc',
          ),
    );
  }
  return texts;
}

/** Names of CRDs' resources and kinds. */
export function dns1035(value: string): string[] {
  const texts: string[] = [];
  if (byteLength(value) > 63) texts.push(maxLengthText(63));
  if (!dns1035Pattern.test(value)) {
    texts.push(
      patternText(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        dns1035Label,
        'my-name',
        'abc-123',
      ),
    );
  }
  return texts;
}

/** Names that only have to fit into a URL path, as RBAC objects have. */
export function pathSegment(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  const texts: string[] = [];
  for (const illegal of ['/', '%']) if (name.includes(illegal)) texts.push(`may not contain '${illegal}'`);
  return texts;
}

/** `*.example.com`. */
export function wildcardSubdomain(value: string): string[] {
  const texts: string[] = [];
  if (byteLength(value) > 253) texts.push(maxLengthText(253));
  if (!wildcardPattern.test(value)) {
    texts.push(
      patternText(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
        String.raw`\*\.${dns1123Subdomain}`,
        '*.example.com',
      ),
    );
  }
  return texts;
}

const labelKeyText = patternText(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  labelKeyName,
  'MyName',
  'my.name',
  '123-abc',
);

/** Keys of labels and annotations, finalizer names. */
export function qualifiedName(value: string): string[] {
  const parts = value.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${labelKeyText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const texts: string[] = [];
  const name = parts.at(-1)!;
  if (parts.length === 2) {
    const prefix = parts[0]!;
    if (!prefix) texts.push('prefix part must be non-empty');
    else {
      if (byteLength(prefix) > 253) texts.push(`prefix part ${maxBytesText(253)}`);
      if (!subdomainPattern.test(prefix)) texts.push(`prefix part ${subdomainText}`);
    }
  }
  if (!name) texts.push('name part must be non-empty');
  else if (byteLength(name) > 63) texts.push(`name part ${maxBytesText(63)}`);
  if (!labelKeyPattern.test(name)) texts.push(`name part ${labelKeyText}`);
  return texts;
}

export function labelValue(value: string): string[] {
  const texts: string[] = [];
  if (byteLength(value) > 63) texts.push(maxBytesText(63));
  if (!labelValuePattern.test(value)) {
    texts.push(
      patternText(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        `(${labelKeyName})?`,
        'MyValue',
        'my_value',
        '12345',
      ),
    );
  }
  return texts;
}

function directoryTexts(value: string): string[] {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
}

/** Keys of ConfigMaps and Secrets. */
export function configMapKey(value: string): string[] {
  const texts: string[] = [];
  if (byteLength(value) > 253) texts.push(maxLengthText(253));
  if (!configKeyPattern.test(value)) {
    texts.push(
      patternText(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        configKey,
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    );
  }
  return [...texts, ...directoryTexts(value)];
}

/** Environment variables may be any printable ASCII but `=`. */
export function environmentName(value: string): string[] {
  if (!value) return ['environment variable name must be non-empty'];
  return /^[\x20-\x3c\x3e-\x7e]+$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** The older rule, still used for keys taken whole from a ConfigMap. */
export function strictEnvironmentName(value: string): string[] {
  const texts = new RegExp(`^${envName}$`).test(value)
    ? []
    : [
        patternText(
          "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
          envName,
          'my.env-name',
          'MY_ENV.NAME',
          'MyEnvName1',
        ),
      ];
  return [...texts, ...directoryTexts(value)];
}

export function portNumber(port: number): string[] {
  return port >= 1 && port <= 65_535 ? [] : [rangeText(1, 65_535)];
}

/** IANA service names. */
export function portName(value: string): string[] {
  const texts: string[] = [];
  if (byteLength(value) > 15) texts.push(maxLengthText(15));
  if (!/^[-a-z0-9]+$/.test(value)) {
    texts.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(value)) texts.push('must contain at least one letter (a-z)');
  if (value.includes('--')) texts.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) texts.push('must not begin or end with a hyphen');
  return texts;
}

/** `25%`. */
export function percentage(value: string): string[] {
  return /^[0-9]+%$/.test(value)
    ? []
    : [
        patternText(
          "a valid percent string must be a numeric string followed by an ending '%'",
          '[0-9]+%',
          '1%',
          '93%',
        ),
      ];
}

import { Optional, type Environment } from '@marcbachmann/cel-js';
import { hasFormat } from '../crd/formats.ts';
import { dns1035, dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../kinds/names.ts';

type Check = (value: string) => string[];

class NamedFormat {
  readonly check: Check;
  constructor(check: Check) {
    this.check = check;
  }
}

class FormatNamespace {}

/** The last letter of a prefix may be a dash, which the generated part makes up for. */
const asPrefix =
  (check: Check): Check =>
  (value) =>
    check(value.endsWith('-') ? `${value.slice(0, -1)}a` : value);

const schemaFormat =
  (format: string): Check =>
  (value) =>
    hasFormat(value, format) ? [] : [`invalid ${format}`];

const formats: Readonly<Record<string, Check>> = {
  dns1123Label: dnsLabel,
  dns1123Subdomain: dnsSubdomain,
  dns1035Label: dns1035,
  qualifiedName,
  dns1123LabelPrefix: asPrefix(dnsLabel),
  dns1123SubdomainPrefix: asPrefix(dnsSubdomain),
  dns1035LabelPrefix: asPrefix(dns1035),
  labelValue,
  uri: schemaFormat('uri'),
  uuid: schemaFormat('uuid'),
  byte: schemaFormat('byte'),
  date: schemaFormat('date'),
  datetime: schemaFormat('datetime'),
};

/** `format.dns1123Label().validate(self.name)` and `format.named("uri")`. */
export function registerNamedFormats(environment: Environment): void {
  const define = (signature: string, handler: (...values: never[]) => unknown): void => {
    environment.registerFunction(signature, handler as (...values: unknown[]) => unknown);
  };
  environment.registerType('NamedFormat', { ctor: NamedFormat, fields: {} });
  environment.registerType('FormatNamespace', { ctor: FormatNamespace, fields: {} });
  environment.registerConstant('format', 'FormatNamespace', new FormatNamespace());
  for (const [name, check] of Object.entries(formats)) {
    const format = new NamedFormat(check);
    define(`FormatNamespace.${name}(): NamedFormat`, () => format);
  }
  define('FormatNamespace.named(string): optional<NamedFormat>', (_: unknown, name: string) => {
    const check = Object.hasOwn(formats, name) ? formats[name] : undefined;
    return check ? Optional.of(new NamedFormat(check)) : Optional.none();
  });
  define('NamedFormat.validate(string): optional<list<string>>', (format: NamedFormat, value: string) => {
    const problems = format.check(value);
    return problems.length > 0 ? Optional.of(problems) : Optional.none();
  });
}

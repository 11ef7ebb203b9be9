import type { Json } from '../object.ts';

/**
 * A schema node in the one form the whole server works on: built-in kinds (from generated data) and custom resources (from
 * their CRD) are both turned into it. References are resolved lazily, so `properties`, `items` and the rest may be getters.
 */
export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly nullable?: boolean;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  /**
   * Built-ins: what Go prints for this field when it is absent (`null`, `0`, `""`, `false`, or `{}` with the zero values of its
   * own fields); undefined when it prints nothing.
   */
  readonly zero?: Json;
  /** Built-ins: Go holds the value by pointer, so an explicit zero value is kept (a truthy mark, not a boolean). */
  readonly pointer?: 1;
  /** Built-ins: the name of the Go type of the value, or of its elements, where it is neither a plain type nor a definition. */
  readonly goType?: string;
  /** Built-ins: the embedded Go struct the field is declared in, when that is another one (`VolumeSource`). */
  readonly inlinedFrom?: string;

  /** `x-kubernetes-list-type`; absent means atomic. */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  /** `x-kubernetes-map-type`; absent means granular. */
  readonly mapType?: 'granular' | 'atomic';
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly preserveUnknownFields?: boolean;
  readonly intOrString?: boolean;
  readonly embeddedResource?: boolean;
  /** The name of the definition this node came from, such as `io.k8s.api.core.v1.PodSpec`; absent for custom resources. */
  readonly definition?: string;

  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly validations?: readonly ValidationRule[];
}

/** One `x-kubernetes-validations` rule. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

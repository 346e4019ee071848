// Signatures 1

// duet
export { CliCommand, ConfigError, Content, ContentStore, Examples, InputRow, ListedCommand, PutMany, PutRow, RowsByEntity, Seed, Served, SettingTable, TransferKind, ValuesOf, Versions, Viewers, defineContent, defineModel, defineVersions, listOf, onOff, oneOf, setting, textWhere, whole }

// duet/model
export { Condition, Entity, Field, FieldOptions, Policy, Roles, Rule, anyone, avg, bytes, choice, computed, count, created, date, decimal, defineRoles, email, entity, file, fixed, flag, folded, id, int, internal, json, list, many, money, nobody, now, one, reference, revision, role, self, signedIn, slug, subject, text, time, updatedAt, viewer, webUrl, whileOpen, withRole }

// duet/actions
export { Action, ApiError, Check, Command, ErrorKind, FieldFault, Given, GuardedStep, JsonObject, Letter, MadeFile, Mailer, Message, Otherwise, Rows, Services, Sql, SqlValue, Writing, add, allowedTags, change, changedSince, checkMembers, clipped, comma, commandOf, comparedMoment, conditionOf, defineErrors, effectSteps, excludedTags, giveFile, goneViewer, html, inputValues, insert, invalid, isDay, isMoment, isObject, isOfRow, join, mismatchOf, noMembers, notFound, precheck, preparedCommand, raw, remove, reportOf, require, result, sql, stillThat, targetSteps, textTag }

// duet/routes
export { Assets, ContentPage, Core, Currency, ExtraRoute, FileOfRow, Item, JsonSchema, Mount, Prepared, QueryScript, ReadOptions, RestHandler, Role, Row, WebPage, and, column, columnName, entityOf, fileOf, formatMinor, header, htmlPage, isNotModified, jsonBody, jsonTypesOf, name, oneRow, parseKey, parseMinor, pathId, permit, preferred, prepareFor, queryOf, read, readOptionsOf, represent, representFile, versionPath }

// duet/commands
export { InputContext, UsageError, Values, addRow, ask, checkInput, dangling, entityOf, fold, formatMinor, inserter, orTaken, readArgs }

// duet/test
export { TestService, startService }

type Action<R = DeclaredRule> = Lifetime & {
    readonly method: 'POST' | 'PUT' | 'DELETE';
    readonly name: string;
    readonly rule: R | undefined;
    readonly when?: Condition;
    readonly otherwise?: Otherwise;
    readonly path: string;
    readonly about: string | null;
    readonly answers: string | null;
    readonly bytes?: number;
    readonly ownTag?: true;
    readonly input?: Readonly<Record<string, Field>>;
    readonly graphql?: boolean;
    readonly steps?: (context: StepContext) => readonly DeclaredStep[];
    readonly command?: (writing: Writing, given: Given) => Command | Promise<Command>;
    readonly precheck?: (writing: Writing, id: number) => Command;
    readonly admin?: AdminOfAction;
    readonly described: OperationDocs;
};
class Added {
    readonly by: number | Sql;
    constructor(by: number | Sql);
}
type AdminChart<Key extends string> = {
    readonly group: Key;
    readonly sum?: Key;
};
type AdminField = {
    readonly label?: string;
    readonly place?: Place;
    readonly hidden?: boolean;
};
type AdminOf<Key extends string> = {
    readonly label?: string;
    readonly labels?: string;
    readonly title?: Key;
    readonly columns?: readonly Key[];
    readonly order?: Key | `-${Key}`;
    readonly group?: string;
    readonly hidden?: boolean;
    readonly fields?: Readonly<Partial<Record<Key, AdminField>>>;
    readonly charts?: readonly AdminChart<Key>[];
};
type AdminOfAction = {
    readonly label?: string;
    readonly danger?: boolean;
    readonly bulk?: boolean;
    readonly hidden?: boolean;
    readonly hiddenWhen?: Condition;
};
type After = {
    readonly fields: readonly string[];
    readonly run: (row: Readonly<Record<string, unknown>>, services: Services, signal: AbortSignal) => void | Promise<void>;
};
type Aggregate = {
    readonly keys: readonly GroupValue[];
    readonly timeZone: string;
    readonly items: readonly GroupItem[];
    readonly having?: Predicate | undefined;
    readonly compared: readonly GroupValue[];
    readonly order: readonly {
        readonly value: GroupValue;
        readonly descending: boolean;
    }[];
};
type Answer = {
    readonly text: string;
    readonly objects: number;
    readonly total: number | undefined;
    readonly last: number | undefined;
    readonly more: boolean;
    readonly ends?: {
        readonly first: string;
        readonly last: string;
    } | undefined;
    readonly revision: number | undefined;
    readonly missing: {
        readonly entity: string;
        readonly id: SqlValue;
    } | undefined;
};
class ApiError extends Error {
    readonly name = "ApiError";
    readonly code: string;
    readonly status: number;
    readonly title: string;
    readonly details: readonly FieldFault[] | undefined;
    readonly headers: Readonly<Record<string, string>>;
    readonly retryAfter: number | undefined;
    readonly badToken: boolean;
    readonly location: ErrorLocation | undefined;
    constructor(of: ErrorCode | ErrorKind, message?: string, facts?: Facts);
    aboutPart(path: string): ApiError;
    locatedAt(location: ErrorLocation): ApiError;
}
type Asking = {
    readonly caller?: () => string;
    readonly onGone?: (stop: () => void) => () => void;
};
type Assets = {
    readonly site: Site;
    readonly url: (name: string) => Promise<string>;
    readonly answer: (name: string, c: Http) => Promise<Response>;
};
type Before = (given: BeforeContext) => {
    readonly values?: Readonly<Record<string, unknown>>;
    readonly error?: ErrorKind;
    readonly message?: string;
    readonly steps?: readonly object[];
} | undefined;
type BeforeContext = {
    readonly id: number;
    readonly input: Readonly<Record<string, unknown>>;
    readonly viewer: Viewer;
    readonly now: Date;
};
type ByIds = {
    readonly table: Sql;
    readonly columns: Sql;
    readonly keys: Sql;
    readonly where: Sql;
    readonly budget: Sql;
};
type ByteRange = {
    readonly first: number;
    readonly last: number;
};
type CallerRule = {
    readonly kind: 'anyone';
} | {
    readonly kind: 'signed in';
} | {
    readonly kind: 'role';
    readonly role: string;
} | {
    readonly kind: 'superuser';
} | {
    readonly kind: 'while';
    readonly setting: string;
} | {
    readonly kind: 'nobody';
};
type CallerWord = CallerRule & {
    readonly where: <const C extends Condition>(condition: C) => NarrowRule<C>;
};
type Check<Value = unknown, Given = unknown> = (given: Given) => CheckResult<Value>;
type CheckResult<Value> = {
    readonly value: Value;
} | {
    readonly fault: string;
};
type ChildLevel = (RowSet & {
    readonly kind: 'by ids';
    readonly by: string;
}) | Children | (RowSet & {
    readonly kind: 'counts of';
    readonly by: string;
});
type Children = RowSet & {
    readonly kind: 'children of';
    readonly by: string;
    readonly page: Page;
    readonly oldestFirst: boolean;
    readonly order?: readonly OrderKey[];
    readonly keyset?: Keyset;
    readonly isSorted?: boolean;
};
type ChildrenOf = ByIds & {
    readonly by: Sql;
    readonly page: {
        readonly limit: Sql;
        readonly offset: Sql | null;
    } | null;
    readonly order: Sql | null;
};
type ChoiceOptions<Value extends string> = FieldOptions<{
    readonly value: Value;
}, Value> & {
    enum?: {
        readonly name: string;
        readonly deprecated?: Readonly<Partial<Record<Value, string>>>;
    };
};
type Chunks = AsyncIterable<Uint8Array> & {
    readonly spent?: ((chunk: Uint8Array) => void) | undefined;
};
type ClaimPath = string | readonly string[];
type CliCommand = {
    readonly help: string | ((content: Content) => string | Promise<string>);
    readonly run: (args: readonly string[], content: Content, file?: string) => Promise<void>;
};
type Command = unknown;
type CommandDraft = Pick<Command, 'name' | 'isolated' | 'deletes'> & {
    readonly text?: string | {
        readonly idsOf: readonly string[];
    } | undefined;
    readonly asSelf?: boolean;
    readonly steps: readonly GuardedStep[];
    readonly makes?: string;
    readonly status?: number | {
        readonly step: string;
        readonly some: number;
        readonly none: number;
    };
};
type Comparison = 'eq' | 'lt' | 'lte' | 'gt' | 'gte' | 'contains' | 'contains short' | 'startsWith' | 'has' | 'has number';
type Condition = {
    readonly and?: readonly Condition[];
    readonly or?: readonly Condition[];
    readonly not?: Condition;
    readonly [member: string]: ConditionValue | FieldCondition | ListCondition | Condition | readonly Condition[] | undefined;
};
type ConditionPart = StepValue | StepCondition | readonly (StepValue | StepCondition)[];
type ConditionValue = string | number | boolean | null | Date | typeof viewer | typeof now;
class ConfigError extends Error {
    readonly name = "ConfigError";
}
type ConnectionMember = {
    readonly kind: 'text';
    readonly key: string;
    readonly json: string;
} | {
    readonly kind: 'edges';
    readonly key: string;
    readonly items: readonly Item[];
} | {
    readonly kind: 'page info';
    readonly key: string;
    readonly facts: readonly {
        readonly key: string;
        readonly of: PageFact | '__typename';
    }[];
} | {
    readonly kind: 'total';
    readonly key: string;
};
type Content = Required<Omit<Parts<SettingTable>, 'actions' | 'served' | 'switches' | 'creationRates' | 'currency' | Optional>> & Pick<Parts<SettingTable>, Exclude<Optional, 'people'>> & {
    readonly actions: readonly RuledAction[];
    readonly served: () => Promise<Served<Rule>>;
    readonly people?: People;
    readonly creationRates: (values: Readonly<Record<string, unknown>>) => Readonly<Record<string, number>>;
    readonly decide: (values: Readonly<Record<string, unknown>>) => Settings;
};
type ContentPage = {
    readonly path: string;
    readonly assets: Readonly<Record<string, {
        readonly file: URL;
        readonly type: string;
    }>>;
    readonly page: (assets: Assets) => Promise<WebPage>;
};
type ContentStore = OpenStore & {
    readonly model: Model;
};
type Core = {
    readonly model: Model;
    readonly actions: readonly RuledAction[];
    readonly dialect: Dialect;
    readonly reader: PlanReader;
    readonly writer: Writer;
    readonly limits: Limits;
    readonly cursorKey: Uint8Array;
    readonly services: Services;
    readonly files?: {
        readonly store: FileStore;
        readonly most: number;
        readonly former?: ReturnType<typeof formerFiles>;
    } | undefined;
    readonly wakeOutbox: () => void;
    readonly countUse: CountUse | undefined;
    readonly now: () => number;
};
type CountLevel = {
    readonly kind: 'count';
    readonly table: string;
    readonly where: readonly Predicate[];
    readonly cached: {
        readonly field: string;
        readonly slot: Slot | null;
    } | null;
};
type CountUse = (used: Used) => void;
type Currency = {
    readonly code: string;
    readonly digits: number;
};
type DataStep = {
    readonly does: 'change' | 'insert' | 'remove' | 'require';
    readonly entity: string;
    readonly id?: number | Sql;
    readonly values?: StepValues;
} & StepOptions & PutOptions;
type DatePart = 'day' | 'month' | 'year';
type DeclaredLinks = Readonly<Record<string, string | Link>>;
type DeclaredPeople = {
    readonly email?: string;
    readonly name?: string;
    readonly verified?: string;
    readonly role?: string;
    readonly mails?: (letter: {
        readonly kind: 'code' | 'reset' | 'moved';
        readonly language: 'en' | 'de';
        readonly title: string;
        readonly code: string;
        readonly link: string;
    }) => {
        readonly subject: string;
        readonly text: string;
        readonly html: string;
    } | undefined;
    readonly signUp?: 'open' | 'closed';
};
type DeclaredPolicy = {
    readonly [Operation in keyof Policy]: DeclaredRule;
};
type DeclaredRule = Rule | readonly Rule[];
type DeclaredSet<Key> = {
    readonly fields: readonly Key[];
    readonly error: SetError;
};
type DeclaredSort<Term extends string> = Term | (Lifetime & {
    readonly by: Term;
});
type DeclaredStep = DataStep | GuardedStep;
type DeclaredVersions = Readonly<Record<Version, Partial<VersionStyle>>>;
type DeclaredWrite<Kind extends string> = Kind | (Lifetime & {
    readonly kind: Kind;
});
type DeferredValue = SqlValue | StepColumn | {
    readonly own: number;
};
type Deprecation = string | {
    readonly reason: string;
    readonly on: string;
};
type Described = Readonly<Record<string, Omit<ErrorKind, 'code'>>>;
type Dialect = {
    readonly name: string;
    readonly placeholder: (n: number) => string;
    readonly columnType: Readonly<Record<Scalar, string>>;
    readonly singleStatement: SingleStatement | null;
    readonly columnar: ((query: Sql, columns: readonly string[]) => Sql) | null;
    readonly byIds: (query: ByIds) => Sql;
    readonly childrenOf: (query: ChildrenOf) => Sql;
    readonly columnsOf: (table: string) => Sql;
    readonly interruptCheck: Sql | null;
    readonly checksWithin?: boolean;
    readonly contains: (table: string, column: string, needle: Sql) => Sql;
    readonly holds: (text: Sql, needle: Sql) => Sql;
    readonly finds: (index: SearchIndex, id: Sql, words: Sql) => Sql;
    readonly eachWord: (words: Sql) => Sql;
    readonly has: (list: Sql, item: Sql, isText: boolean) => Sql;
    readonly ordered: (column: Sql, nullable: boolean, descending: boolean, nullLast: boolean) => Sql;
    readonly among: (column: Sql, query: Sql) => Sql;
    readonly valuesIn: (list: Sql, scalar?: Scalar) => Sql;
    readonly eachOf: ((lists: readonly Sql[], table: string, columns: readonly string[]) => Sql) | null;
    readonly typed: (value: SqlPart, scalar: Scalar) => Sql;
    readonly highestId: (table: string) => Sql;
    readonly stepwise: (value: Sql, steps: readonly number[], results: readonly number[]) => Sql;
    readonly calendar: (seconds: Sql, part: 'day' | 'month' | 'year') => Sql;
    readonly clock: Sql;
    readonly plans: {
        readonly explain: string;
        readonly usesOf: (rows: readonly (readonly unknown[])[], statement: string) => readonly string[];
    };
    readonly jsonObject: (members: readonly (readonly [
        key: string,
        value: Sql
    ])[]) => Sql;
    readonly lockClause: Sql;
    readonly shareClause: Sql;
    readonly oneByOne: Sql;
};
type Encoding = 'rest' | 'graphql';
type Entities = Readonly<Record<string, Entity>>;
type Entity = {
    readonly table: string;
    readonly view: boolean;
    readonly own: readonly string[];
    readonly plural: string;
    readonly description: string;
    readonly fields: Readonly<Record<string, Field>>;
    readonly relations: Readonly<Record<string, Relation>>;
    readonly policy: Policy;
    readonly links: Links | null;
    readonly rest: {
        readonly lifetimes: Readonly<Record<string, Lifetime>>;
        readonly list: boolean;
        readonly one: boolean;
        readonly listing: Listing;
        readonly selectable: boolean;
        readonly writes: readonly RestWrite[];
        readonly nested: readonly NestedRoute[];
        readonly embedded: Readonly<Record<string, Lifetime & {
            readonly after: string;
        }>>;
    };
    readonly graphql: {
        readonly type: boolean;
        readonly roots: boolean;
        readonly paged: boolean;
        readonly filters: readonly string[];
        readonly mutations: readonly Mutation[];
        readonly deprecated: Readonly<Record<string, string>>;
    };
    readonly pageSize: number;
    readonly sorts: readonly string[];
    readonly counted: readonly string[] | null;
    readonly filterable: readonly string[] | null;
    readonly indexes: readonly (readonly string[])[];
    readonly search: Readonly<Record<string, number>>;
    readonly appendOnly: boolean;
    readonly bulk: boolean;
    readonly sets: readonly {
        readonly fields: readonly string[];
        readonly error: SetError;
    }[];
    readonly before: Readonly<Partial<Record<Mutation, Before>>> & {
        readonly errors?: readonly ErrorKind[];
    };
    readonly after: Readonly<Record<string, After | undefined>>;
    readonly admin: AdminOf<string>;
};
type EntityDeclaration<F, R, P, Key extends string = (keyof F & string) | 'id'> = {
    table?: string;
    view?: boolean;
    own?: readonly string[];
    plural?: string;
    description?: string;
    fields: F;
    relations?: R;
    policy?: P & {
        readonly [Operation in keyof P]: Operation extends keyof DeclaredPolicy ? RuleOn<P[Operation], Key | keyof R> : 'no operation: read, enter, create, update, delete';
    };
    links?: DeclaredLinks;
    linksBy?: LinksBy<Key>;
    rest?: NoInfer<RestOf<Key, keyof R & string>>;
    graphql?: NoInfer<Partial<Omit<Entity['graphql'], 'filters'>> & {
        filters?: readonly Key[];
    }>;
    counted?: readonly NoInfer<Key>[];
    filterable?: readonly NoInfer<Key | (keyof R & string)>[];
    indexes?: readonly (readonly NoInfer<Key | `-${Key}`>[])[];
    search?: readonly NoInfer<Key>[] | Readonly<Partial<Record<NoInfer<Key>, number>>>;
    sets?: readonly (readonly NoInfer<Key>[] | DeclaredSet<NoInfer<Key>>)[];
    appendOnly?: boolean;
    bulk?: boolean;
    admin?: AdminOf<NoInfer<Key>>;
    before?: Entity['before'];
    after?: NoInfer<Readonly<Record<string, After & {
        readonly fields: readonly (Key | `${keyof R & string}.${string}`)[];
    }>>>;
};
type Enum = {
    readonly name: string;
    readonly deprecated?: Readonly<Record<string, string | undefined>>;
};
type ErrorCode = keyof typeof machineErrors;
type ErrorKind<Code extends string = string> = {
    readonly code: Code;
    readonly status: number;
    readonly title: string;
    readonly detail?: string;
    readonly example?: string;
};
type ErrorLocation = {
    readonly path: readonly (string | number)[];
    readonly at?: {
        readonly line: number;
        readonly column: number;
    };
};
type Examples = {
    readonly graphql: string;
    readonly rest: string;
    readonly withToken: {
        readonly graphql: string;
        readonly rest: string;
    };
    readonly tabs?: readonly {
        readonly query: string;
        readonly variables?: string;
        readonly headers?: string;
    }[];
    readonly rows?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
    readonly inputs?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};
type ExistsLevel = {
    readonly kind: 'exists';
    readonly entity: string;
    readonly table: string;
    readonly where: readonly Predicate[];
    readonly slot: Slot;
};
type ExtraRoute<R = DeclaredRule> = VersionedRoute & {
    readonly described: OperationDocs & {
        readonly rule: R | undefined;
    };
    readonly isSigned?: (c: Http) => boolean;
    readonly serve: (mount: Mount) => RestHandler;
};
type Facts = {
    readonly details?: readonly FieldFault[] | undefined;
    readonly headers?: Readonly<Record<string, string>>;
    readonly retryAfter?: number | undefined;
    readonly badToken?: boolean;
    readonly status?: number;
    readonly location?: ErrorLocation | undefined;
    readonly cause?: unknown;
};
type Field = Lifetime & {
    readonly scalar: Scalar;
    readonly scale: number;
    readonly nullable: boolean;
    readonly description: string;
    readonly rule: Check;
    readonly readableBy: Rule;
    readonly settableBy: Rule;
    readonly initial: Initial | undefined;
    readonly graphql: 'shown' | 'input' | 'hidden';
    readonly rest: boolean;
    readonly until: Variants;
    readonly from: Variants;
    readonly references: {
        readonly entity: string;
        readonly onDelete: 'cascade' | 'set null' | 'restrict';
        readonly isUsual?: true;
    } | undefined;
    readonly foldedFrom: string | undefined;
    readonly accents: 'ignored' | undefined;
    readonly indexed?: boolean | undefined;
    readonly copied: 'words' | 'nfc' | undefined;
    readonly computed: Formula | undefined;
    readonly kept: {
        readonly relation: string;
        readonly of?: string;
        readonly as: 'count' | 'sum' | 'mean';
        readonly where?: KeptOptions['where'] | undefined;
    } | undefined;
    readonly resetBy: string | undefined;
    readonly touched: boolean;
    readonly unique: ErrorKind | 'CONFLICT' | undefined;
    readonly immutable: boolean;
    readonly range: {
        readonly min: number;
        readonly max: number;
    } | undefined;
    readonly values: readonly string[] | undefined;
    readonly format: 'email' | 'uri' | undefined;
    readonly pattern: RegExp | undefined;
    readonly items: Field | undefined;
    readonly schema: StandardSchema | undefined;
    readonly file: FileRules | undefined;
    readonly renamed: string | false | undefined;
    readonly enum: Enum | undefined;
};
type FieldComparison = Placed & {
    readonly kind: 'compare';
    readonly field: string;
    readonly is: Comparison;
    readonly to: Operand;
};
type FieldCondition = {
    readonly eq?: ConditionValue;
    readonly ne?: ConditionValue;
    readonly in?: readonly ConditionValue[];
    readonly notIn?: readonly ConditionValue[];
    readonly isNull?: boolean;
    readonly lt?: ConditionValue;
    readonly lte?: ConditionValue;
    readonly gt?: ConditionValue;
    readonly gte?: ConditionValue;
    readonly contains?: string;
    readonly startsWith?: string;
    readonly has?: string | number;
    readonly hasSome?: readonly (string | number)[];
};
type FieldFault = {
    readonly field: string;
    readonly message: string;
};
type FieldOptions<Own extends Initial = Initial, Value = never> = Partial<Omit<Field, OptionsOfKind | 'readableBy' | 'settableBy' | 'unique'>> & {
    readonly initial?: Own | {
        readonly value: null;
    };
    readonly check?: Readonly<Record<string, (value: Value) => boolean>>;
    readonly readableBy?: DeclaredRule | Condition;
    readonly settableBy?: DeclaredRule | Condition;
    readonly unique?: ErrorKind | 'CONFLICT' | boolean | undefined;
};
type FileAt = {
    readonly entity: string;
    readonly field: string;
    readonly id: number;
};
type FileField = {
    readonly entityName: string;
    readonly entity: Entity;
    readonly key: string;
    readonly field: Field;
    readonly file: FileRules;
};
type FileForm = {
    readonly before: string;
    readonly after: string;
    readonly members?: readonly (readonly [
        key: string,
        member: string
    ])[] | undefined;
    readonly isSigned?: boolean;
};
type FileOfRow = Pick<StoredFile, 'digest' | 'type' | 'bytes'> & {
    readonly open: () => Promise<AsyncIterable<Uint8Array>>;
};
type FileRules = {
    readonly accept: readonly string[];
    readonly max: number;
    readonly sizes: readonly number[];
    readonly exif: 'kept' | undefined;
    readonly movedFrom: FormerFiles | undefined;
};
type FileStore = {
    readonly label: string;
    readonly put: (stream: Chunks, limit?: Limit) => Promise<StoredBytes>;
    readonly open: (digest: string, range?: ByteRange) => Promise<Chunks>;
    readonly size: (digest: string) => Promise<number | undefined>;
    readonly remove: (digest: string) => Promise<void>;
    readonly list: () => AsyncIterable<StoredBytes & {
        readonly changed: Date;
    }>;
    readonly sweep: (before: Date) => Promise<void>;
};
type FilledOptions = Pick<FieldOptions, 'settableBy' | 'readableBy' | 'description' | 'graphql' | 'rest' | 'until' | 'from' | 'renamed'> & Lifetime;
type Filter = Lifetime & {
    readonly kind: 'equals' | 'at least' | 'at most' | 'above zero' | 'contains';
    readonly field: string;
};
type Form = 'as text' | 'as seconds' | {
    readonly values: Readonly<Record<string, string>>;
};
type Former = Stored & {
    readonly writer: Writer;
    readonly entities: Parameters<typeof fileFields>[0];
    readonly keepFile: Services['keepFile'];
};
type FormerFiles = {
    readonly table: string;
    readonly row: string;
    readonly bytes: string;
    readonly type: string;
};
type Formula = {
    readonly plus: readonly Term[];
} | {
    readonly minus: readonly [
        Term,
        Term
    ];
} | {
    readonly times: readonly Term[];
} | {
    readonly concat: readonly Term[];
} | {
    readonly coalesce: readonly Term[];
} | {
    readonly mean: readonly [
        sum: string,
        count: string
    ];
};
type Given = {
    readonly id: number;
    readonly body: Readonly<Record<string, unknown>>;
    readonly hasBody: boolean;
    readonly bytes: Uint8Array;
    readonly ifMatch: string | undefined;
    readonly ifNoneMatch: string | undefined;
    readonly now: number;
    readonly services: Services;
};
type Giving = Pick<FileAt, 'entity' | 'field'> & {
    readonly file: string | null;
    readonly instead?: () => readonly string[];
};
type GroupItem = {
    readonly kind: 'text';
    readonly key: string;
    readonly json: string;
} | {
    readonly kind: 'value';
    readonly key: string;
    readonly value: GroupValue;
    readonly form?: Form | undefined;
    readonly at?: Location;
} | {
    readonly kind: 'object';
    readonly key: string;
    readonly items: readonly GroupItem[];
};
type GroupMeasure = 'sum' | 'avg' | 'min' | 'max';
type GroupType = {
    readonly scalar: Scalar;
    readonly scale: number;
    readonly exact?: 'sum' | 'mean';
};
type GroupValue = {
    readonly kind: 'key';
    readonly field: string;
    readonly part?: {
        readonly is: DatePart;
        readonly of: Scalar;
    };
} | {
    readonly kind: 'count';
} | {
    readonly kind: GroupMeasure;
    readonly field: string;
};
type GuardedStep = Partial<Pick<Step, 'expect' | 'checksViewer' | 'path' | 'slugs'>> & {
    readonly isEffect?: true;
    readonly name?: string;
    readonly returns?: readonly string[];
    readonly sql: Sql;
    readonly explain?: Sql;
    readonly refused?: (rows: Rows, given?: OwnValues) => ApiError | undefined;
    readonly many?: () => Sql | undefined;
    readonly given?: OwnValues;
    readonly scope?: string;
    readonly above?: string | undefined;
};
type Hop = {
    readonly table: string;
    readonly by: string;
    readonly where: readonly Predicate[];
};
type Http = unknown;
type HttpContext = unknown;
type Initial = {
    readonly value: string | number | null;
} | {
    readonly slugOf: string;
} | 'now' | 'viewer' | 'subject';
type InputContext = {
    readonly mode: Mode;
    readonly viewer: Viewer;
    readonly model: Pick<Model, 'settings' | 'viewers'>;
    readonly now: number;
    readonly what: string;
    readonly given?: Readonly<Record<string, SqlValue>>;
    readonly resource?: Resource;
    readonly also?: readonly string[];
    readonly isService?: boolean;
    readonly stored?: Values | undefined;
};
type InputRow = Readonly<Record<string, unknown>>;
type InputValue = string | number | boolean | null | Date | JsonObject | readonly unknown[] | Uint8Array;
type Item = {
    readonly kind: 'field';
    readonly key: string;
    readonly field: string;
    readonly form?: Form | undefined;
    readonly file?: FileForm | undefined;
    readonly at?: Location;
} | {
    readonly kind: 'row';
    readonly keys: readonly string[];
    readonly items: readonly Item[];
} | {
    readonly kind: 'cursor';
    readonly key: string;
} | {
    readonly kind: 'text';
    readonly key: string;
    readonly json: string;
} | {
    readonly kind: 'links';
    readonly key: string;
    readonly prefix: string;
    readonly links: Links;
} | (Related & {
    readonly kind: 'relation';
    readonly items: readonly Item[];
}) | (Related & {
    readonly kind: 'connection';
    readonly keyset: Keyset;
    readonly members: readonly ConnectionMember[];
});
type JobStatement = {
    readonly text: string;
    readonly values: readonly DeferredValue[];
};
type JsonObject = Readonly<Record<string, unknown>>;
type JsonSchema = Readonly<Record<string, unknown>>;
type KeptOptions = FilledOptions & {
    readonly where?: Readonly<Record<string, string | boolean>>;
};
type KeyOf<M extends Entities, Self extends Entity, R> = R extends {
    through: string;
} ? string : R extends {
    kind: 'one';
} ? keyof Self['fields'] : R extends {
    kind: 'many';
    to: infer To extends keyof M;
} ? keyof M[To]['fields'] : never;
type Keyset = {
    readonly seal: Slot;
    readonly after?: readonly Slot[] | undefined;
    readonly before?: readonly Slot[] | undefined;
    readonly backwards: boolean;
};
type Letter = {
    readonly recipient: number | null;
    readonly address: string;
    readonly compose: () => Message;
};
type Level = RowLevel | CountLevel | ExistsLevel;
type Lifetime = {
    readonly since?: Version;
    readonly last?: Version;
    readonly sunset?: string;
    readonly deprecated?: Deprecation;
};
type Limit = {
    readonly check?: (bytes: number) => void;
    readonly begins?: (head: Uint8Array) => Promise<void>;
    readonly arriving?: (digest: string, bytes: number, path: string) => Promise<void>;
    readonly through?: (path: string) => Promise<boolean>;
    readonly as?: string;
};
type Limits = {
    readonly objects: number;
    readonly bytes: number;
    readonly quickRows?: number;
};
type Link = Lifetime & {
    readonly href: string;
    readonly method?: string;
};
type Links = {
    readonly by: string | null;
    readonly cases: Readonly<Record<string, Readonly<Record<string, Link>>>>;
};
type LinksBy<Key> = {
    by: Key;
    cases: Readonly<Record<string, DeclaredLinks>>;
};
type ListCondition = {
    readonly some: Condition;
} | {
    readonly none: Condition;
};
type ListedCommand = {
    readonly about: string;
    readonly load: () => Promise<CliCommand>;
};
type Listing = {
    readonly paging: Paging;
    readonly sort?: {
        readonly style: SortStyle;
        readonly fields: readonly string[];
        readonly lifetimes?: Readonly<Record<string, Lifetime>>;
    };
    readonly filters?: Readonly<Record<string, Filter>>;
};
type ListingOf<Key extends string> = Partial<Omit<Listing, 'sort' | 'filters'>> & {
    readonly limit?: number;
    readonly sort?: {
        readonly style: 'field and order';
        readonly fields: readonly DeclaredSort<Key>[];
    } | {
        readonly style: 'signed list';
        readonly fields: readonly DeclaredSort<Key | `-${Key}`>[];
    };
    readonly filters?: Readonly<Record<string, Filter & {
        readonly field: Key;
    }>>;
};
type Location = {
    readonly line: number;
    readonly column: number;
};
type Made<Of> = Of extends Check<infer Value> ? Value : never;
type MadeFile = {
    readonly bytes: Uint8Array;
    readonly type: string | readonly string[];
    readonly name: string;
};
type MadeMany<To extends string, By extends string> = ReturnType<typeof manyBy<To, By>>;
type Mailer = {
    readonly canSend: boolean;
    readonly send: (mail: Message | Letter, signal: AbortSignal) => Promise<void>;
};
type ManyOptions = OneOptions & Lifetime & {
    rest?: boolean;
    oldestFirst?: boolean;
    nestedWrites?: boolean;
};
type MediaType = {
    readonly schema: JsonSchema;
    readonly example?: unknown;
};
type Member = {
    readonly kind: 'field';
    readonly name: string;
    readonly field: string;
    readonly form: Form | undefined;
} | {
    readonly kind: 'embedded';
    readonly name: string;
} | {
    readonly kind: 'links';
    readonly name: '_links';
    readonly links: Links;
};
type MembersOf<C> = C extends readonly (infer One)[] ? MembersOf<One> : {
    [Member in keyof C]: Member extends 'and' | 'or' | 'not' ? MembersOf<C[Member]> : Member;
}[keyof C];
type Message = {
    readonly to: {
        readonly name?: string;
        readonly address: string;
    };
    readonly subject: string;
    readonly text: string;
    readonly html?: string;
};
type Mode = 'create' | 'replace' | 'update' | 'import';
type Model = {
    readonly graphqlStrings?: boolean;
    readonly about?: string | undefined;
    readonly entities: Entities;
    readonly viewers: Viewers;
    readonly people?: People | undefined;
    readonly versions: Versions;
    readonly settings: Settings;
};
type Mount = {
    readonly core: Core;
    readonly edge: HttpContext;
    readonly prefix: string;
    readonly version: Version;
    readonly style: VersionStyle;
};
type Mutation = 'create' | 'update' | 'delete';
type NarrowRule<C> = CallerRule & {
    readonly before: C;
    readonly byViewer: boolean;
    readonly becoming: <const After extends Condition>(condition: After) => CallerRule & {
        readonly before: C;
        readonly after: After;
        readonly byViewer: boolean;
    };
};
type NestedRoute = 'one' | 'create' | 'delete';
type NumberOptions = FieldOptions<{
    readonly value: number;
}, number> & {
    max: number;
};
type OneOptions = Pick<Lifetime, 'deprecated'> & {
    description?: string;
    graphql?: boolean;
};
type OpenStore = {
    readonly session: Session;
    readonly dialect: Dialect;
};
type Operand = {
    readonly kind: 'value';
    readonly value: string | number | null;
} | {
    readonly kind: 'slot';
    readonly slot: number;
} | {
    readonly kind: 'viewer';
    readonly from?: ViewersTable | undefined;
} | {
    readonly kind: 'now';
} | {
    readonly kind: 'result';
    readonly step: string;
    readonly field: string;
};
type Operation = {
    readonly name: string | undefined;
    readonly hash: () => string;
};
type OperationDocs = {
    readonly operationId: string;
    readonly summary: string;
    readonly description?: string;
    readonly parameters?: Readonly<Record<string, {
        readonly schema: JsonSchema;
        readonly description: string;
    }>>;
    readonly body?: Readonly<Record<string, MediaType>>;
    readonly isBodyOptional?: boolean;
    readonly success?: Readonly<Record<number, string>>;
    readonly forms?: Readonly<Record<string, MediaType>>;
    readonly errors?: readonly string[];
};
type Optional = 'description' | 'contact' | 'license' | 'colours' | 'demo' | 'seed' | 'people';
type OptionsOfKind = 'scalar' | 'scale' | 'touched' | 'rule' | 'range' | 'values' | 'format' | 'references' | 'foldedFrom' | 'accents' | 'indexed' | 'copied' | 'computed' | 'kept' | 'initial' | 'pattern' | 'items' | 'schema' | 'file' | 'enum';
type OrderKey = {
    readonly column: ReadField;
    readonly descending: boolean;
    readonly nullsLast: boolean;
};
type Otherwise = ErrorKind | keyof typeof machineErrors | {
    readonly error: ErrorKind | keyof typeof machineErrors;
    readonly message: string;
} | {
    readonly find: readonly string[];
    readonly error: (row: Readonly<Record<string, InputValue>>) => ApiError;
};
type OwnValues = ReadonlyMap<string, SqlValue>;
type Page = {
    readonly limit: Slot;
    readonly offset: Slot | null;
} | null;
type PageContent = {
    readonly title: string;
    readonly language?: string;
    readonly styles?: readonly string[];
    readonly scripts?: readonly string[];
    readonly policy?: Readonly<Record<string, string>>;
    readonly body: unknown;
};
type PageFact = 'hasNextPage' | 'hasPreviousPage' | 'startCursor' | 'endCursor';
type PagedChildren = Children & Required<Pick<Children, 'keyset' | 'order'>>;
type Paging = 'page' | 'page or offset' | 'cursor';
type Parameter = {
    readonly kind: 'value';
    readonly value: SqlValue;
} | {
    readonly kind: 'slot';
    readonly slot: number;
} | {
    readonly kind: 'keys';
} | {
    readonly kind: 'budget';
} | {
    readonly kind: 'capped';
    readonly slot: number;
} | {
    readonly kind: 'now';
} | {
    readonly kind: 'given';
    readonly key: string;
    readonly as?: 'list';
} | {
    readonly kind: 'result';
    readonly step: string;
    readonly field: string;
    readonly as?: 'list';
};
type ParsedColumn = readonly (string | null)[];
type Parts<Own extends SettingTable> = {
    readonly title?: string;
    readonly description?: string;
    readonly contact?: {
        readonly name?: string;
        readonly url?: string;
        readonly email?: string;
    };
    readonly license?: {
        readonly name: string;
        readonly identifier?: string;
        readonly url?: string;
    };
    readonly colours?: {
        readonly graphql?: string;
        readonly rest?: string;
    };
    readonly entities: Entities;
    readonly viewers?: Viewers;
    readonly people?: boolean | DeclaredPeople;
    readonly versions?: Versions;
    readonly actions?: readonly Action[];
    readonly served?: () => Promise<Served>;
    readonly errors?: Readonly<Record<string, ErrorKind>>;
    readonly graphqlStrings?: boolean;
    readonly settings?: Own;
    readonly switches?: (values: ValuesOf<Own>) => Readonly<Record<string, boolean>>;
    readonly creationRates?: (values: ValuesOf<Own>) => Readonly<Record<string, number>>;
    readonly currency?: (values: ValuesOf<Own>) => string;
    readonly migrations: URL;
    readonly demo?: () => Promise<RowsByEntity>;
    readonly seed?: () => Promise<Seed>;
    readonly transfer?: Readonly<Record<string, Partial<TransferKind>>>;
    readonly commands?: Readonly<Record<string, ListedCommand>>;
    readonly examples?: Examples;
};
type People = Required<Omit<DeclaredPeople, 'mails'>> & Pick<DeclaredPeople, 'mails'> & {
    readonly entity: string;
    readonly table: string;
    readonly emailKey: string;
};
type Place = 'main' | 'side';
type Placed = {
    readonly path?: string;
};
type PlanReader = Reader;
type Policy = {
    readonly read?: Rule;
    readonly enter?: Rule;
    readonly create?: Rule;
    readonly update?: Rule;
    readonly delete?: Rule;
};
type Position = string;
type Predicate = unknown;
type Prepared = unknown;
type PutMany = (entity: string, count: number, rowAt: RowAt) => Promise<void>;
type PutOptions = {
    readonly once?: boolean;
    readonly after?: string;
};
type PutRow = (row: InputRow) => Promise<readonly FieldFault[]>;
type Query = {
    readonly text: string;
    readonly values: readonly SqlValue[];
    readonly bytes?: number;
    readonly characters?: number;
    readonly columnar?: string;
    readonly isQuick?: boolean;
    readonly forMany?: string;
    readonly viewer?: SqlValue;
};
type QueryScript<Result> = Generator<Query, Result, Rows>;
type ReadField = Pick<Field, 'scalar' | 'nullable'> & {
    readonly name: string;
    readonly scale?: number;
    readonly shown?: {
        readonly field: string;
        readonly in: Predicate;
    };
    readonly across?: {
        readonly hops: readonly Hop[];
        readonly field: string;
        readonly relevance?: Relevance;
    };
    readonly rank?: {
        readonly order: readonly OrderKey[];
        readonly backwards?: boolean;
    };
    readonly group?: GroupValue;
    readonly exact?: GroupType['exact'];
};
type ReadOptions = Asking & {
    readonly after?: Position | undefined;
    readonly isPresent?: boolean;
};
type Reader = {
    readonly query: (query: Query, options?: ReadOptions) => Rows | Promise<Rows>;
    readonly snapshot: <Result>(begin: () => QueryScript<Result>, options?: ReadOptions) => Result | Promise<Result>;
    readonly positionStatus?: (after: Position) => 'lost' | 'unknown' | undefined;
};
type Related = {
    readonly key: string;
    readonly relation: string;
    readonly page: Page;
    readonly search?: Slot | undefined;
    readonly sort?: readonly Sort[];
    readonly condition?: Predicate | undefined;
    readonly at?: Location;
};
type Relation = Lifetime & {
    readonly kind: 'one' | 'many';
    readonly to: string;
    readonly by: string;
    readonly description: string;
    readonly through?: string | undefined;
    readonly graphql: boolean;
    readonly rest: boolean;
    readonly oldestFirst: boolean;
    readonly nestedWrites: boolean;
};
type Relevance = {
    readonly to: Operand;
    readonly weights: readonly {
        readonly field: string;
        readonly weight: number;
    }[];
};
type Reply = {
    readonly status: number;
    readonly headers: Record<string, string>;
    readonly body: string | Uint8Array<ArrayBuffer> | null;
    readonly stream?: {
        readonly body: Chunks;
        readonly bytes: number;
    } | undefined;
    readonly cookies?: readonly string[];
    readonly written?: WriteFacts | undefined;
    readonly code?: string | undefined;
    readonly operation?: Operation | undefined;
};
type ReplyFacts = {
    readonly named: RequestedVersion;
    readonly isPublic: boolean;
    readonly link?: string;
    readonly queriedBy?: string;
    readonly type?: string;
    readonly tag?: string;
};
type RequestedVersion = {
    readonly version: Version;
    readonly style: VersionStyle;
    readonly contentType: string;
};
type Resource = {
    readonly name: string;
    readonly entity: Entity;
    readonly version: Version;
    readonly members: readonly Member[];
    readonly filters: Readonly<Record<string, Filter>>;
    readonly sorts: readonly SortTerm[];
    readonly fieldNamed: (member: string) => string | undefined;
    readonly nameOf: (field: string) => string;
    readonly formOf: (field: string) => Form | undefined;
};
type RestHandler = (c: Http, viewer: Viewer, requested: RequestedVersion) => Reply | Promise<Reply>;
type RestOf<Key extends string, Related extends string> = Lifetime & {
    readonly list?: boolean | Lifetime;
    readonly one?: boolean | Lifetime;
    readonly selectable?: boolean;
    readonly writes?: readonly DeclaredWrite<RestWrite>[];
    readonly nested?: readonly DeclaredWrite<NestedRoute>[];
    readonly listing?: ListingOf<Key>;
    readonly embedded?: Readonly<Partial<Record<Related, Lifetime & {
        readonly after: Key;
    }>>>;
};
type RestWrite = 'create' | 'replace' | 'update' | 'delete';
type Results = Map<Level, Rows>;
type Role = string;
type Roles<Name extends string = string> = {
    readonly names: readonly Name[];
    readonly default: Name;
    readonly superuser: Name;
};
type Root = {
    readonly entity: string;
    readonly aggregate?: Aggregate;
    readonly items: readonly Item[];
    readonly where: readonly Where[];
    readonly search?: Slot | undefined;
    readonly condition?: Predicate | undefined;
    readonly granted?: Predicate | undefined;
    readonly linked?: {
        readonly entity: string;
        readonly by: string;
        readonly of: string;
        readonly slot: Slot;
    };
    readonly exists: readonly {
        readonly entity: string;
        readonly slot: Slot;
    }[];
    readonly sort: readonly Sort[];
    readonly keyset?: Keyset;
    readonly many: boolean;
    readonly page: Page;
    readonly fetchOneMore: boolean;
    readonly total: boolean;
    readonly written?: 'created' | 'changed';
    readonly key?: string;
    readonly at?: Location;
};
type RootLevel = RowSet & Pick<Root, 'page' | 'many' | 'fetchOneMore'> & {
    readonly kind: 'root';
    readonly order: readonly OrderKey[];
    readonly keyset?: Keyset;
    readonly isIndexed: boolean;
    readonly foundBy?: number;
    readonly groups?: Pick<Aggregate, 'timeZone' | 'having' | 'order'> & {
        readonly areFew?: boolean;
    };
};
type Row = readonly SqlValue[];
type RowAt = (index: number) => Readonly<Record<string, SqlValue>>;
type RowLevel = RootLevel | ChildLevel;
type RowPart = {
    readonly kind: 'text';
    readonly text: string;
} | {
    readonly kind: 'field';
    readonly field: string;
    readonly as: 'value' | 'path';
    readonly form?: Form | undefined;
    readonly file?: FileForm | undefined;
} | {
    readonly kind: 'case';
    readonly field: string;
    readonly cases: Readonly<Record<string, readonly RowPart[]>>;
} | {
    readonly kind: 'present';
    readonly fields: readonly string[];
    readonly parts: readonly RowPart[];
} | {
    readonly kind: 'child';
    readonly level: ChildLevel;
} | {
    readonly kind: 'page';
    readonly level: PagedChildren;
    readonly of: PageFact;
} | {
    readonly kind: 'cursor';
};
type RowSet = {
    readonly table: string;
    readonly where: readonly Predicate[];
    readonly fields: readonly ReadField[];
    readonly parts: readonly RowPart[];
    readonly longText: number;
};
type RowTerms = {
    readonly before?: Condition;
    readonly after?: Condition;
    readonly byViewer?: boolean;
};
type Rows = readonly Row[];
type RowsByEntity = Readonly<Record<string, readonly InputRow[]>>;
type Rule = SimpleRule | {
    readonly kind: 'self';
    readonly fields: readonly string[];
} | {
    readonly kind: 'any of';
    readonly rules: readonly Rule[];
};
type RuleOn<Declared, Known> = Declared extends readonly unknown[] ? {
    readonly [At in keyof Declared]: RuleOn<Declared[At], Known>;
} : Declared extends {
    readonly before: infer Before;
    readonly after?: infer After;
} ? [
    Exclude<MembersOf<Before> | MembersOf<After>, Known>
] extends [
    never
] ? Declared : `${Exclude<MembersOf<Before> | MembersOf<After>, Known> & string} is no field or relation here` : Declared;
type RuledAction = Action<Rule>;
type Scalar = 'id' | 'text' | 'int' | 'money' | 'decimal' | 'date' | 'time' | 'flag' | 'json' | 'list' | 'file' | 'bytes';
type SchemaIssue = {
    readonly message: string;
    readonly path?: readonly (PropertyKey | {
        readonly key: PropertyKey;
    })[] | undefined;
};
type SchemaResult<Value> = {
    readonly value: Value;
    readonly issues?: undefined;
} | {
    readonly issues: readonly SchemaIssue[];
};
type SearchIndex = {
    readonly name: string;
    readonly table: string;
    readonly columns: readonly string[];
    readonly by: 'trigrams' | 'words';
};
type Seed = {
    readonly sizes: Sizes;
    readonly about: string;
    readonly check: (sizes: Sizes) => string | undefined;
    readonly fill: (put: PutMany, sizes: Sizes) => Promise<void>;
};
type Selection = {
    readonly encoding: Encoding;
    readonly roots: readonly Root[];
};
type Served<R = DeclaredRule> = {
    readonly routes: readonly ExtraRoute<R>[];
    readonly pages: readonly ContentPage[];
};
type ServiceOptions = {
    readonly rows?: RowsByEntity;
    readonly settings?: Readonly<Record<string, string>>;
};
type Services = {
    readonly mail: Mailer;
    readonly key: Uint8Array;
    readonly publicUrl: () => string;
    readonly keepFile: (file: MadeFile) => Promise<string>;
    readonly now: () => number;
};
type Session = {
    readonly query: (query: Query) => Promise<Rows>;
    readonly transaction: <Result>(work: () => Promise<Result>) => Promise<Result>;
    readonly attempt: <Result>(work: () => Promise<Result>) => Promise<Result>;
    readonly settleIds: (tables: readonly string[]) => Promise<void>;
    readonly analyze: () => Promise<void>;
    readonly close: () => Promise<void>;
};
type SetError = NonNullable<Field['unique']>;
type Setting = {
    readonly rule: SettingRule;
    readonly usual: string;
    readonly about: string;
};
type SettingRule<SettingValue = unknown> = Check<SettingValue, string>;
type SettingTable = Readonly<Record<string, Setting>>;
type Settings = {
    readonly switches: Switches;
    readonly currency: Currency;
    readonly values?: Readonly<Record<string, unknown>>;
};
type SimpleRule = CallerRule & RowTerms;
type SingleStatement = {
    readonly aggregate: (column: Sql, scalar: Scalar) => Sql;
    readonly parse: (text: string, scalar: Scalar) => ParsedColumn;
    readonly isIn: (column: Sql, list: Sql) => Sql;
    readonly pairs: (ids: Sql, viewers: Sql, bySubject: boolean) => Sql;
};
type Site = {
    readonly title: string;
    readonly description?: string | undefined;
    readonly colours?: {
        readonly graphql?: string;
        readonly rest?: string;
    } | undefined;
    readonly hasPeople?: boolean;
    readonly hasGraphiql: boolean;
};
type Sizes = Readonly<Record<string, number>>;
type Slot = number;
type Sort = {
    readonly path?: readonly string[];
    readonly field: string;
    readonly descending: boolean;
    readonly nullsLast?: boolean;
    readonly isRelevance?: boolean;
    readonly member?: string;
};
type SortStyle = 'field and order' | 'signed list';
type SortTerm = {
    readonly name: string;
    readonly field: string;
    readonly descending: boolean;
};
type Sql = {
    readonly [brand]: true;
    readonly texts: readonly string[];
    readonly parameters: readonly Parameter[];
};
type SqlPart = Sql | SqlValue;
type SqlValue = string | number | bigint | Uint8Array | null;
type StandardSchema<Value = unknown> = {
    readonly '~standard': {
        readonly version: 1;
        readonly validate: (value: unknown) => SchemaResult<Value> | Promise<SchemaResult<Value>>;
        readonly jsonSchema?: Readonly<Record<'input' | 'output', (options: {
            readonly target: 'draft-2020-12';
        }) => object>>;
    };
};
type Statement = {
    readonly text: string;
    readonly parameters: readonly Parameter[];
};
type Step<Statement = JobStatement> = {
    readonly statement: Statement;
    readonly expect: 'row' | 'any';
    readonly explain?: Statement;
    readonly checksViewer?: boolean;
    readonly path?: string | undefined;
    readonly slugs?: readonly {
        readonly target: string;
        readonly text: string;
    }[];
};
type StepColumn = {
    readonly step: number;
    readonly column: number;
    readonly as?: 'list';
};
type StepCondition = {
    readonly [member: string]: ConditionPart | undefined;
};
type StepContext = {
    readonly id: number;
    readonly input: Readonly<Record<string, InputValue>>;
    readonly viewer: Viewer;
    readonly now: Date;
    readonly settings: Readonly<Record<string, unknown>>;
};
type StepOptions = {
    readonly name?: string;
    readonly where?: StepCondition;
    readonly otherwise?: Otherwise;
};
type StepRows = number | Sql | {
    readonly where: StepCondition;
};
type StepValue = InputValue | Viewer | typeof viewer | typeof now | Sql | Added;
type StepValues = Readonly<Record<string, StepValue | undefined>>;
type Stored = {
    readonly reader: Pick<Reader, 'query'>;
    readonly dialect: Dialect;
};
type StoredBytes = {
    readonly digest: string;
    readonly bytes: number;
};
type StoredFile = {
    readonly digest: string;
    readonly name: string;
    readonly type: string;
    readonly bytes: number;
    readonly width: number | null;
    readonly height: number | null;
};
type Styled = Pick<RequestedVersion, 'version' | 'style'>;
type Switches = Readonly<Record<string, boolean>>;
type Target = {
    readonly entity: string;
    readonly id: number;
    readonly below?: {
        readonly field: string;
        readonly id: number;
    };
    readonly revisions?: readonly number[] | 'any' | undefined;
    readonly mismatch?: string | undefined;
    readonly excluded?: readonly number[] | 'any' | undefined;
    readonly unchanged?: Values | undefined;
};
type TargetForm = Omit<Target, 'id' | 'below' | 'revisions'> & {
    readonly id: number | Sql;
    readonly below?: {
        readonly field: string;
        readonly id: number | Sql;
    };
    readonly revisions?: readonly (number | Sql)[] | 'any' | undefined;
};
type Term = string | {
    readonly value: number;
} | {
    readonly text: string;
} | Formula;
type TestService = {
    readonly url: string;
    readonly token: (whom: TokenFor) => Promise<string>;
    readonly stop: () => Promise<void>;
};
type TextOptions = FieldOptions<{
    readonly value: string;
}, string>;
type ThroughOptions = ManyOptions & {
    through: string;
    by?: string;
};
type TokenFor = {
    readonly sub: number | string;
    readonly role?: string;
    readonly claims?: JsonObject;
};
type TransferKind = {
    readonly entity: string;
    readonly also: readonly string[];
    readonly foreign: Readonly<Record<string, string | null>>;
    readonly rows?: (store: ContentStore, use: InputContext) => PutRow;
    readonly help?: string;
};
class UsageError extends Error {
    readonly name = "UsageError";
}
type Used = {
    readonly api: string;
    readonly member?: string;
};
type Value<S extends Setting> = (S['rule'] extends SettingRule<infer Value> ? Value : never) | (S['usual'] extends '' ? undefined : never);
type Values = ReadonlyMap<string, SqlValue> & {
    readonly ruled?: readonly string[];
};
type ValuesOf<Table extends SettingTable> = {
    readonly [K in keyof Table]: Value<Table[K]>;
};
type Variant = {
    readonly name?: string;
    readonly form?: Form;
};
type Variants = Readonly<Record<Version, Variant>>;
type Version = number;
type VersionStyle = {
    readonly lists: 'by paging' | 'uniform';
    readonly errors: 'error' | 'problem';
    readonly isStrict: boolean;
    readonly isMarked: boolean;
};
type VersionedRoute = Lifetime & {
    readonly method: string;
    readonly path: string;
};
type Versions = {
    readonly all: readonly Version[];
    readonly oldest: Version;
    readonly newest: Version;
    readonly styleOf: (version: Version) => VersionStyle;
    readonly usual: RequestedVersion;
    readonly inPlainJson: ReadonlyMap<string, RequestedVersion>;
    readonly inOwnType: ReadonlyMap<string, RequestedVersion>;
};
type Viewer = {
    readonly id: number | null;
    readonly service?: string;
    readonly role: Role;
    readonly subject?: string;
    readonly claims?: Readonly<Record<string, unknown>>;
    readonly session?: string;
    readonly since?: number;
};
type Viewers = {
    readonly entity?: string;
    readonly blocked?: {
        readonly field: string;
        readonly value: string;
    };
    readonly by?: string;
    readonly signUp?: Readonly<Record<string, ClaimPath>>;
    readonly roleFrom?: {
        readonly claim: ClaimPath;
        readonly map?: Readonly<Record<string, Role>>;
        readonly otherwise?: Role;
    };
    readonly audienceClaim?: string;
    readonly roles: Roles;
};
type ViewersTable = {
    readonly table: string;
    readonly by: string;
};
type WebPage = {
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
};
type Where = FieldComparison & {
    readonly member?: string;
};
type WithKnownNames<M extends Entities> = {
    [E in keyof M]: {
        relations: {
            [R in keyof M[E]['relations'] as string extends R ? never : R]: {
                to: keyof M;
                by: KeyOf<M, M[E], M[E]['relations'][R]>;
            };
        };
    };
};
type WriteFacts = {
    readonly replayed: boolean;
    readonly position?: string | undefined;
};
type Writer = unknown;
type Writing = {
    readonly model: Model;
    readonly dialect: Dialect;
    readonly viewer: Viewer;
    readonly now: number;
    readonly before?: readonly GuardedStep[];
    readonly after?: readonly GuardedStep[];
};
const add: (by: number | Sql) => Added;
const addRow: (content: Content, name: string, row: InputRow) => Promise<number>;
const allowedTags: (header: string | undefined) => "any" | readonly string[] | undefined;
const and: (conditions: readonly Sql[]) => Sql;
const anyone: CallerWord;
const ask: ({ session, dialect }: OpenStore, piece: Sql) => Promise<Rows>;
const avg: (path: string, options?: KeptOptions) => Field;
const bytes: (options?: FieldOptions<never, never> | undefined) => Field;
const change: (entity: string, rows: StepRows, values: StepValues, options?: StepOptions & PutOptions) => DeclaredStep;
const changedSince: (what: string, why?: string) => ApiError;
const checkInput: (entity: Entity, input: Readonly<Record<string, unknown>>, context: InputContext) => {
    readonly values: Values;
    readonly faults: readonly FieldFault[];
    readonly unwanted: readonly string[];
};
const checkMembers: <Checks extends Readonly<Record<string, Check>>>(object: JsonObject, checks: Checks, at?: string) => {
    values: {
        [Key in keyof Checks]?: Made<Checks[Key]>;
    };
    faults: FieldFault[];
};
const choice: <const Value extends string>(values: readonly Value[], options?: ChoiceOptions<NoInfer<Value>>) => Field;
const clipped: (text: string, most: number) => string;
const column: (alias: string, identifier: string) => Sql;

const comma: Sql;
const commandOf: (writing: Writing, draft: CommandDraft) => Command;
const comparedMoment: (text: string) => number | undefined;
const computed: (options: {
    as: Field;
    from: Formula;
}) => Field;
const conditionOf: (writing: Writing, entityName: string, rule: Rule | undefined) => Sql;
const count: (relation: string, options?: KeptOptions) => Field;
const created: (options?: FilledOptions & Pick<FieldOptions, 'nullable'>) => Field;
const dangling: (store: ContentStore, entity: Entity, values: Values) => Promise<readonly FieldFault[]>;
const date: (options?: TextOptions | undefined) => Field;
const decimal: (options: NumberOptions & {
    scale: number;
    min: number;
}) => Field;
const defineContent: <const Own extends SettingTable = Record<never, never>>(parts: Parts<Own>) => Content;
const defineErrors: <const Table extends Described>(table: Table) => {
    readonly [Code in keyof Table & string]: ErrorKind<Code>;
};
const defineModel: <const M extends Entities>(declared: M & WithKnownNames<M>) => M;
const defineRoles: <const Name extends string>(roles: Roles<Name> & Roles<NoInfer<Name>>) => Roles<Name>;
const defineVersions: (declared?: DeclaredVersions) => Versions;
const effectSteps: ({ model, dialect }: Pick<Writing, 'model' | 'dialect'>, entityName: string, occasion: string, id: Sql | number, isMany?: boolean) => readonly GuardedStep[];
const email: (options?: TextOptions | undefined) => Field;
const entity: <const F extends Readonly<Record<string, Field>>, const R extends Readonly<Record<string, Relation>> = {}, const P extends DeclaredPolicy = DeclaredPolicy>(draft: EntityDeclaration<F, R, P>) => {
    linksBy?: LinksBy<"id" | (keyof F & string)>;
    table: string;
    plural: string;
    description: string;
    fields: F & {
        readonly id: Field;
    };
    policy: {
        readonly [Operation in keyof P]: Rule;
    };
    relations: R;
    links: {
        by: "id" | (keyof F & string) | null;
        cases: Readonly<Record<string, Readonly<Record<string, Link>>>>;
    } | null;
    rest: {
        readonly lifetimes: Readonly<Record<string, Lifetime>>;
        readonly list: boolean;
        readonly one: boolean;
        readonly listing: Listing;
        readonly selectable: boolean;
        readonly writes: readonly RestWrite[];
        readonly nested: readonly NestedRoute[];
        readonly embedded: Readonly<Record<string, Lifetime & {
            readonly after: string;
        }>>;
    };
    pageSize: number;
    sorts: readonly string[];
    graphql: {
        type: boolean;
        roots: boolean;
        paged: boolean;
        filters: readonly ("id" | (keyof F & string))[];
        mutations: readonly Mutation[];
        deprecated: {};
    };
    counted: readonly NoInfer<"id" | (keyof F & string)>[] | null;
    filterable: readonly NoInfer<"id" | (keyof F & string) | (keyof R & string)>[] | null;
    indexes: readonly (readonly NoInfer<"-id" | "id" | `-${keyof F & string}` | (keyof F & string)>[])[];
    search: Entity['search'];
    sets: DeclaredSet<NoInfer<"id" | (keyof F & string)>>[];
    appendOnly: boolean;
    bulk: boolean;
    view: boolean;
    own: readonly string[];
    admin: Entity['admin'];
    before: Readonly<Partial<Record<Mutation, Before>>> & {
        readonly errors?: readonly ErrorKind[];
    };
    after: Entity['after'];
};

const excludedTags: (header: string | undefined) => "any" | readonly string[] | undefined;
const file: (options: FieldOptions<never, string> & {
    accept: readonly string[];
    max: string | number;
    sizes?: readonly number[];
    exif?: 'kept';
    movedFrom?: FormerFiles;
}) => Field;
const fileFields: (entities: Readonly<Record<string, Entity>>) => readonly FileField[];
const fileOf: (core: Core, at: FileAt, options?: ReadOptions) => Promise<FileOfRow | null>;
const fixed: {
    readonly settableBy: Rule;
};
const flag: (options?: FieldOptions<{
    readonly value: 0 | 1;
}, never> | undefined) => Field;
const fold: (text: string) => string;
const folded: (from: string, options?: Pick<FieldOptions, 'nullable' | 'unique' | 'renamed'> & {
    accents?: 'ignored';
    indexed?: boolean;
}) => Field;
const formatMinor: (minor: number | bigint, digits: number) => string;
const formerFiles: (former: Former) => {
    find: (store: Stored, { entity, field, id }: FileAt, options: ReadOptions) => Promise<Rows | undefined>;
    move: (entity: string, id: number) => Promise<void>;
} | undefined;
const giveFile: ({ model }: Writing, given: Pick<Given, 'id' | 'ifMatch' | 'ifNoneMatch'>, { entity, field, file, instead }: Giving) => GuardedStep;
const goneViewer: ({ model }: Writing) => ApiError;
const header: (c: Http, name: string) => string | undefined;
const htmlPage: (assets: Assets, content: PageContent) => Promise<WebPage>;
const id: (options?: FilledOptions | undefined) => Field;
const inputValues: (entity: Entity, input: Readonly<Record<string, unknown>>, context: InputContext) => Values;
const insert: (entity: string, values: StepValues, options?: Pick<StepOptions, 'name'> & PutOptions) => DeclaredStep;
const inserter: (store: OpenStore, entity: Entity) => (given: Values) => Promise<number>;
const int: (options: NumberOptions & {
    min: number;
}) => Field;
const internal: {
    readonly settableBy: Rule;
    readonly graphql: 'hidden';
    readonly rest: false;
};
const invalid: (faults: readonly FieldFault[]) => ApiError;
const isDay: (text: string) => boolean;
const isMoment: (text: string) => boolean;
const isNotModified: (header: string | undefined, tag: string) => boolean;
const isObject: (value: unknown) => value is JsonObject;
const isOfRow: (tag: string) => boolean;
const join: (parts: readonly SqlPart[], separator: Sql) => Sql;
const json: <Value>(schema: StandardSchema<Value>, options?: FieldOptions<{
    readonly value: string;
}, Value> & {
    max?: number;
}) => Field;
const jsonBody: (c: Http, limit: number, types: readonly string[], optional?: boolean) => JsonObject | Promise<JsonObject>;
const jsonTypesOf: ({ all }: Versions) => readonly string[];
const list: (items: Field, options: FieldOptions<{
    readonly value: string;
}, readonly never[]> & {
    min?: number;
    max: number;
}) => Field;
const listOf: (isOne: (one: string) => boolean, fault: string) => SettingRule<readonly string[]>;
const machineErrors: {
    readonly BAD_USER_INPUT: ErrorKind<"BAD_USER_INPUT">;
    readonly CLIENT_CLOSED_REQUEST: ErrorKind<"CLIENT_CLOSED_REQUEST">;
    readonly CONFLICT: ErrorKind<"CONFLICT">;
    readonly DEPTH_LIMIT: ErrorKind<"DEPTH_LIMIT">;
    readonly FORBIDDEN: ErrorKind<"FORBIDDEN">;
    readonly GRAPHQL_PARSE_FAILED: ErrorKind<"GRAPHQL_PARSE_FAILED">;
    readonly GRAPHQL_VALIDATION_FAILED: ErrorKind<"GRAPHQL_VALIDATION_FAILED">;
    readonly HEADERS_TOO_MANY: ErrorKind<"HEADERS_TOO_MANY">;
    readonly HTTP_VERSION_NOT_SUPPORTED: ErrorKind<"HTTP_VERSION_NOT_SUPPORTED">;
    readonly IDEMPOTENCY_IN_FLIGHT: ErrorKind<"IDEMPOTENCY_IN_FLIGHT">;
    readonly IDEMPOTENCY_KEY_REUSED: ErrorKind<"IDEMPOTENCY_KEY_REUSED">;
    readonly INTERNAL: ErrorKind<"INTERNAL">;
    readonly MALFORMED_REQUEST: ErrorKind<"MALFORMED_REQUEST">;
    readonly METHOD_NOT_ALLOWED: ErrorKind<"METHOD_NOT_ALLOWED">;
    readonly NOT_ACCEPTABLE: ErrorKind<"NOT_ACCEPTABLE">;
    readonly NOT_FOUND: ErrorKind<"NOT_FOUND">;
    readonly NOT_IMPLEMENTED: ErrorKind<"NOT_IMPLEMENTED">;
    readonly OVERLOADED: ErrorKind<"OVERLOADED">;
    readonly PAYLOAD_TOO_LARGE: ErrorKind<"PAYLOAD_TOO_LARGE">;
    readonly PERSISTED_QUERY_NOT_FOUND: ErrorKind<"PERSISTED_QUERY_NOT_FOUND">;
    readonly PERSISTED_QUERY_NOT_SUPPORTED: ErrorKind<"PERSISTED_QUERY_NOT_SUPPORTED">;
    readonly PERSISTED_QUERY_ONLY: ErrorKind<"PERSISTED_QUERY_ONLY">;
    readonly PRECONDITION_FAILED: ErrorKind<"PRECONDITION_FAILED">;
    readonly QUERY_TOO_COMPLEX: ErrorKind<"QUERY_TOO_COMPLEX">;
    readonly RANGE_NOT_SATISFIABLE: ErrorKind<"RANGE_NOT_SATISFIABLE">;
    readonly RATE_LIMITED: ErrorKind<"RATE_LIMITED">;
    readonly REQUEST_TIMEOUT: ErrorKind<"REQUEST_TIMEOUT">;
    readonly RESPONSE_TOO_LARGE: ErrorKind<"RESPONSE_TOO_LARGE">;
    readonly STORAGE_FULL: ErrorKind<"STORAGE_FULL">;
    readonly TIMEOUT: ErrorKind<"TIMEOUT">;
    readonly UNAUTHENTICATED: ErrorKind<"UNAUTHENTICATED">;
    readonly UNAVAILABLE: ErrorKind<"UNAVAILABLE">;
    readonly UNSUPPORTED_MEDIA_TYPE: ErrorKind<"UNSUPPORTED_MEDIA_TYPE">;
    readonly UNSUPPORTED_VERSION: ErrorKind<"UNSUPPORTED_VERSION">;
    readonly URI_TOO_LONG: ErrorKind<"URI_TOO_LONG">;
    readonly VALIDATION_ERROR: ErrorKind<"VALIDATION_ERROR">;
    readonly VERSION_WITHDRAWN: ErrorKind<"VERSION_WITHDRAWN">;
};
function many<const To extends string, const By extends string>(to: To, by: By, options?: ManyOptions): MadeMany<To, By>;
function many<const To extends string>(to: To, options: ThroughOptions): MadeMany<To, ''> & {
    readonly through: string;
};
const manyBy: <const To extends string, const By extends string>(to: To, by: By, options?: ManyOptions | undefined) => {
    description: string;
    graphql: boolean;
    rest: boolean;
    oldestFirst: boolean;
    nestedWrites: boolean;
    kind: "many";
    to: To;
    by: By;
};
const mismatchOf: (header: string, what: string, mayBeOf: (tag: string) => boolean) => string | undefined;
const money: (options: NumberOptions) => Field;
const name: (identifier: string) => Sql;
const noMembers: (body: Readonly<Record<string, unknown>>) => void;
const nobody: Rule;
const notFound: (entity: string, id: unknown, location?: ApiError['location']) => ApiError;
const now: unique symbol;
const onOff: Check<boolean, string>;
const one: <const To extends string, const By extends string>(to: To, by: By, options?: OneOptions | undefined) => {
    description: string;
    graphql: boolean;
    rest: boolean;
    oldestFirst: boolean;
    nestedWrites: boolean;
    kind: "one";
    to: To;
    by: By;
};
const oneOf: <const Word extends string>(words: readonly Word[], fault: string) => SettingRule<Word>;
const oneRow: (entity: string, items: readonly Item[]) => Root;
const orTaken: ({ session }: OpenStore, entity: Entity, put: () => Promise<unknown>) => Promise<readonly FieldFault[]>;
const parseKey: (header: string | undefined) => string | undefined;
const parseMinor: (text: string, digits: number) => {
    minor: bigint;
    rest: boolean;
} | undefined;
const pathId: (c: Http, parameter: string, entity: string) => number;
const permit: ({ model, viewer }: Pick<Writing, 'model' | 'viewer'>, rule: Rule | undefined, what: string) => 'yes' | 'row';
const precheck: (writing: Writing, target: Target, operation: keyof typeof verbs) => Command;
const preferred: <const Offered extends string>(header: string, offered: readonly Offered[]) => Offered | undefined;
const prepareFor: (core: Core, selection: Selection, role: Role) => Prepared;
const preparedCommand: (writing: Writing, form: string, own: OwnValues, draftOf: (ownValueOf: (key: string) => SqlPart) => CommandDraft) => Command;
const queryOf: (piece: Sql, { placeholder }: Pick<Dialect, 'placeholder'>) => Query;
const read: (reader: PlanReader, prepared: Prepared, parameters: readonly SqlValue[], options?: ReadOptions, see?: (results: Results) => void) => readonly Answer[] | Promise<readonly Answer[]>;
const readArgs: <const Options extends ParseArgsConfig['options'] & {}>(args: readonly string[], options: Options, positionals: number) => {
    values: Options extends import("node:util").ParseArgsOptionsConfig ? {
        -readonly [LongOption in keyof Options]?: {
            [LongOption_1 in keyof Options]: Options[LongOption_1]["multiple"] extends infer T ? T extends Options[LongOption_1]["multiple"] ? T extends false ? Options[LongOption_1]["type"] extends "string" ? string : Options[LongOption_1]["type"] extends "boolean" ? boolean : string | boolean : T extends true ? (Options[LongOption_1]["type"] extends "string" ? string : Options[LongOption_1]["type"] extends "boolean" ? boolean : string | boolean)[] : Options[LongOption_1]["type"] extends "string" ? string : Options[LongOption_1]["type"] extends "boolean" ? boolean : string | boolean : never : never;
        }[LongOption];
    } & {
        [LongOption in keyof Options as Options[LongOption]["default"] extends {} ? LongOption : never]: {
            [LongOption_1 in keyof Options]: Options[LongOption_1]["multiple"] extends infer T ? T extends Options[LongOption_1]["multiple"] ? T extends false ? Options[LongOption_1]["type"] extends "string" ? string : Options[LongOption_1]["type"] extends "boolean" ? boolean : string | boolean : T extends true ? (Options[LongOption_1]["type"] extends "string" ? string : Options[LongOption_1]["type"] extends "boolean" ? boolean : string | boolean)[] : Options[LongOption_1]["type"] extends "string" ? string : Options[LongOption_1]["type"] extends "boolean" ? boolean : string | boolean : never : never;
        }[LongOption];
    } extends infer P ? {
        [K in keyof P]: P[K];
    } : never : {};
    positionals: string[];
    tokens: ({
        kind: "positional";
        index: number;
        value: string;
    } | {
        kind: "option-terminator";
        index: number;
    } | (keyof Options extends infer T ? T extends keyof Options ? T extends unknown ? Options extends import("node:util").ParseArgsOptionsConfig ? Options[T]["type"] extends "string" ? {
        kind: "option";
        index: number;
        name: T & string;
        rawName: string;
        value: string;
        inlineValue: boolean;
    } : Options[T]["type"] extends "boolean" ? {
        kind: "option";
        index: number;
        name: T & string;
        rawName: string;
        value: undefined;
        inlineValue: undefined;
    } : ({
        kind: "option";
        index: number;
        name: string;
        rawName: string;
        value: string;
        inlineValue: boolean;
    } | {
        kind: "option";
        index: number;
        name: string;
        rawName: string;
        value: undefined;
        inlineValue: undefined;
    }) & {
        name: T & string;
    } : {
        kind: "option";
        index: number;
        name: string;
        rawName: string;
        value: string;
        inlineValue: boolean;
    } | {
        kind: "option";
        index: number;
        name: string;
        rawName: string;
        value: undefined;
        inlineValue: undefined;
    } : never : never : never))[];
};
const readOptionsOf: ({ callerOf }: {
    readonly callerOf: (c: Http, viewer: Viewer) => string;
}, c: Http, viewer: Viewer) => {
    after: string | undefined;
    caller: () => string;
    onGone: (stop: () => void) => () => undefined;
};
const reference: (entity: string, options?: FieldOptions<'viewer', number> & {
    onDelete?: 'cascade' | 'set null' | 'restrict';
}) => Field;
const remove: (entity: string, rows: StepRows, options?: StepOptions) => DeclaredStep;
const reportOf: (faults: readonly FieldFault[]) => readonly FieldFault[];
const represent: (c: Http, edge: HttpContext, body: Reply['body'], { named, isPublic, link, queriedBy, type, tag }: ReplyFacts) => Reply;
const representFile: (c: Http, edge: HttpContext, file: FileOfRow, { viewer, ...facts }: ReplyFacts & {
    readonly viewer: Viewer;
}) => Promise<Reply>;
const require: (entity: string, rows: StepRows, otherwise?: Otherwise, options?: Pick<StepOptions, 'name' | 'where'>) => DeclaredStep;
const result: (step: string, field?: string) => Sql;
const revision: () => Field;
const role: (name: string) => CallerWord;
const self: (...fields: readonly string[]) => Rule;
const setting: <Value, const Usual extends string>(rule: SettingRule<Value>, usual: Usual, about: string) => {
    rule: SettingRule<Value>;
    usual: Usual;
    about: string;
};
const signedIn: CallerWord;
const slug: (options: Omit<FieldOptions<never, string>, 'initial'> & {
    from: string;
    max?: number;
}) => Field;
const sql: (strings: TemplateStringsArray, ...parts: readonly SqlPart[]) => Sql;
const startService: (content: Content, { rows, settings }?: ServiceOptions) => Promise<TestService>;
const stillThat: (what: string) => ApiError;
const subject: (options?: Pick<FieldOptions, 'nullable' | 'description' | 'readableBy' | 'graphql' | 'rest'>) => Field;
const targetSteps: (writing: Writing, target: TargetForm, operation: keyof typeof verbs) => readonly GuardedStep[];
const text: (options: TextOptions & {
    min?: number;
    max: number;
    trimmed?: boolean;
    pattern?: RegExp;
    message?: string;
}) => Field;
const textTag: (text: string, version: Styled) => string;
const textWhere: (isSo: (given: string) => boolean, fault: string) => SettingRule<string>;
const time: (options?: FieldOptions<"now" | {
    readonly value: number;
}, string> | undefined) => Field;
const updatedAt: (options?: FilledOptions & Pick<FieldOptions, 'nullable'>) => Field;
const verbs: {
    readonly update: 'change';
    readonly delete: 'delete';
};
const versionPath: (version: number) => string;
const viewer: unique symbol;
const webUrl: (options?: TextOptions | undefined) => Field;
const whileOpen: (setting: string) => CallerWord;
const whole: (min: number, max: number) => SettingRule<number>;
const withRole: <const R extends Roles>(roles: R, name: R['names'][number]) => CallerWord;
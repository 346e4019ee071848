/** The parameters of a query string or a form, without a question mark before it: one that it begins with is part of a name. */
export const parametersIn = (text: string): URLSearchParams => new URLSearchParams(`?${text}`)

/** The model of the content, for all that is below it on the page. */
import { createContext, useContext } from 'react'
import { type Entity, entityNamed, type Model } from './model.ts'

export const ModelContext = createContext<Model>(undefined as never)
export const useModel = () => useContext(ModelContext)
export const useEntity = (name: string): Entity => entityNamed(useModel(), name) as Entity

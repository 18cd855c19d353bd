-- Nominatim's style "full", told of tags in one order. Lua's own order is chance, and by it a castle
-- that is also an attraction would be one or the other.
local unordered = pairs

local function before(a, b)
    if type(a) ~= type(b) then
        return type(a) < type(b)
    end
    return a < b
end

function pairs(told)
    local keys = {}
    for key in unordered(told) do
        keys[#keys + 1] = key
    end
    table.sort(keys, before)
    local at = 0
    return function()
        repeat
            at = at + 1
        until keys[at] == nil or told[keys[at]] ~= nil
        if keys[at] ~= nil then
            return keys[at], told[keys[at]]
        end
    end
end

local flex = require('flex-base')

flex.load_topic('full')

return flex
